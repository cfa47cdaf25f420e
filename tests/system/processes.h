// Looking at processes that are not our children.
#pragma once

#include <sys/types.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace hearth::testing {

// Not there, or a zombie that its new parent has yet to reap.
inline bool is_gone(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    stat >> number >> name >> state;
    return !stat || state == "Z" || state == "X";
}

// Thread id → name.
inline std::map<pid_t, std::string> threads_of(pid_t pid) {
    std::map<pid_t, std::string> threads;
    std::error_code failed;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        const std::string number = entry.path().filename();
        pid_t thread = 0;
        std::from_chars(number.data(), number.data() + number.size(), thread);
        std::ifstream name(entry.path() / "comm");
        std::getline(name, threads[thread]);
    }
    return threads;
}

}  // namespace hearth::testing
