#include "daemon/app/logging.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/base/log.h"
#include "engine/base/units.h"

namespace hearth::app {
namespace {

constexpr std::size_t kFileBytes = 10 * kMiB;
constexpr std::size_t kFiles = 4;  // beside the one that grows

spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::info;
}

// A line stays one line, whatever a worker put into it.
std::string printable(std::string_view line) {
    std::string text(line);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return text;
}

}  // namespace

Result<void> start_logging(const std::string& folder, const std::string& level) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem)
        return Error{ErrorCode::io_failed, folder + " cannot be made: " + problem.message()};
    try {
        std::vector<spdlog::sink_ptr> sinks;
        sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
            folder + "/hearthd.log", kFileBytes, kFiles));
        if (::isatty(STDERR_FILENO) != 0)
            sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
        // Owners: this sink function and whatever copies of it a logging call holds.
        auto logger = std::make_shared<spdlog::logger>("hearthd", sinks.begin(), sinks.end());
        logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %L %v");
        logger->set_level(spdlog::level::from_str(level));
        logger->flush_on(spdlog::level::debug);  // lines are few, and a crash must not lose them
        set_log_sink([logger](LogLevel at, std::string_view line) {
            logger->log(level_of(at), printable(line));
        });
    } catch (const spdlog::spdlog_ex& failure) {
        return Error{ErrorCode::io_failed,
                     std::string("the log cannot be opened: ") + failure.what()};
    }
    return {};
}

void stop_logging() { set_log_sink({}); }

}  // namespace hearth::app
