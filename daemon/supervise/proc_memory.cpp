// Reads /proc/<pid>/smaps_rollup, whose lines look like "Private_Dirty:      5120 kB".
#include "daemon/supervise/proc_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace hearth::supervise {

ProcessMemory memory_of(pid_t pid) {
    ProcessMemory memory;
    std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
    std::string line;
    std::getline(file, line);  // the address range
    std::string name;
    std::string unit;
    std::uint64_t kibibytes = 0;
    while (file >> name >> kibibytes >> unit) {
        if (name == "Rss:") memory.resident_bytes = kibibytes * 1024;
        if (name == "Private_Clean:" || name == "Private_Dirty:") {
            memory.private_bytes += kibibytes * 1024;
        }
    }
    return memory;
}

std::uint64_t resident_bytes_of(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");  // pages: total, resident, …
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace hearth::supervise
