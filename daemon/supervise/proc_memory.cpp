// Reads /proc/<pid>/status, whose lines look like "RssAnon:      5120 kB". It may be read although
// workers are closed to debuggers, other than smaps_rollup.
#include "daemon/supervise/proc_memory.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace hearth::supervise {

ProcessMemory memory_of(pid_t pid) {
    ProcessMemory memory;
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kibibytes = 0;
        words >> name >> kibibytes;
        if (name == "VmRSS:") memory.resident_bytes = kibibytes * 1024;
        if (name == "RssAnon:") memory.private_bytes = kibibytes * 1024;
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
