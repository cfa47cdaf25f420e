// What the memory of a process costs, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace hearth::supervise {

struct ProcessMemory {
    std::uint64_t resident_bytes = 0;
    std::uint64_t private_bytes = 0;  // shared with nobody: what ending the process gives back
};

// Of counters that the kernel keeps anyway, where memory_of() walks through every page. Counts less
// exactly, because each processor has its own share of the counter.
std::uint64_t resident_bytes_of(pid_t pid);

// Zeros when the process is gone or /proc does not say.
ProcessMemory memory_of(pid_t pid);

}  // namespace hearth::supervise
