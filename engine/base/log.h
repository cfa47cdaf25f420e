// The engine owns no logger: it calls a sink that the host installs. Without one, warnings and
// errors go to stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace hearth {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

using LogSink = std::function<void(LogLevel, std::string_view)>;

// Install before any other thread logs; the sink must be callable from every thread.
void set_log_sink(LogSink sink);

// One line per event that a person would act on; nothing per token.
void log(LogLevel level, std::string_view line);

}  // namespace hearth
