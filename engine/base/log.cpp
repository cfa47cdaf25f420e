#include "engine/base/log.h"

#include <iostream>
#include <utility>

namespace hearth {
namespace {

LogSink& installed_sink() {
    static LogSink sink;
    return sink;
}

}  // namespace

void set_log_sink(LogSink sink) { installed_sink() = std::move(sink); }

void log(LogLevel level, std::string_view line) {
    if (const LogSink& sink = installed_sink()) return sink(level, line);
    if (level >= LogLevel::warning) std::cerr << "hearth: " << line << '\n';
}

}  // namespace hearth
