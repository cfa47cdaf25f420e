// What the memory of a process costs, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace hearth::supervise {

struct ProcessMemory {
    std::uint64_t resident_bytes = 0;
    std::uint64_t private_bytes = 0;  // shared with nobody: what ending the process gives back
};

// As memory_of(), for any process: one short line to read.
std::uint64_t resident_bytes_of(pid_t pid);

// Zeros when the process is gone or /proc does not say.
ProcessMemory memory_of(pid_t pid);

}  // namespace hearth::supervise
