// Keeps a flood out of the log: of lines of one kind, kPerKind are written within a window, the
// rest is counted and told in one line when the window is over and something else is logged, or at
// the end. Lines are of one kind when they differ in their numbers only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/log.h"

namespace hearth::app {

struct LogLine {
    LogLevel level;
    std::string text;
};

class LogLimit {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr int kPerKind = 20;
    static constexpr int kInAll = 400;  // of all kinds, whatever they are
    static constexpr std::size_t kMaxKinds = 256;
    static constexpr std::chrono::seconds kWindow{10};

    // What is to be written in its place: the line or not, and what was counted before it.
    std::vector<LogLine> take(Clock::time_point now, LogLine line);
    // What has been counted.
    std::vector<LogLine> finish();

private:
    struct Kind {
        LogLine first;
        int written = 0;
        std::uint64_t counted = 0;
    };

    std::map<std::string, Kind> kinds_;
    std::uint64_t counted_in_all_ = 0;  // of kinds that are too many to remember
    int written_ = 0;
    Clock::time_point window_;
};

}  // namespace hearth::app
