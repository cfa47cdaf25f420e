#include "daemon/app/logging.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "daemon/app/log_limit.h"
#include "daemon/app/redact.h"
#include "engine/base/log.h"
#include "engine/base/units.h"

namespace hearth::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFileBytes = 10 * kMiB;
constexpr std::size_t kFiles = 4;  // beside the one that grows
// Between attempts to open a file that could not be opened: each costs some milliseconds.
constexpr std::chrono::seconds kPatience{30};

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

// The rotating file, when there is one: a disk that is full or a folder that may not be written to
// is remembered and tried again, and never an error for whoever logs.
class LogFile final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LogFile(std::string folder) : folder_(std::move(folder)) {}

    std::string trouble() {
        const std::lock_guard lock(mutex_);
        return trouble_;
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        attempt([&] { file_->log(message); });
    }
    void flush_() override {
        if (file_) attempt([&] { file_->flush(); });
    }
    void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
        formatter_ = std::move(formatter);
        if (file_) file_->set_formatter(formatter_->clone());
    }

private:
    template <typename Action>
    void attempt(Action action) {
        try {
            if (!open()) return;
            action();
            trouble_.clear();
        } catch (const spdlog::spdlog_ex& failure) {
            trouble_ = printable(failure.what());
        }
    }

    bool open() {
        if (file_) return true;
        const Clock::time_point now = Clock::now();
        if (last_try_ && now - *last_try_ < kPatience) return false;
        last_try_ = now;
        std::error_code problem;
        std::filesystem::create_directories(folder_, problem);
        if (problem) {
            trouble_ = folder_ + " cannot be made: " + problem.message();
            return false;
        }
        spdlog::file_event_handlers events;
        events.after_open = [](const spdlog::filename_t&, std::FILE* file) {
            ::fcntl(::fileno(file), F_SETFD, FD_CLOEXEC);
        };
        file_ = std::make_unique<spdlog::sinks::rotating_file_sink_st>(
            folder_ + "/hearthd.log", kFileBytes, kFiles, false, events);
        file_->set_formatter(formatter_->clone());
        return true;
    }

    const std::string folder_;
    std::unique_ptr<spdlog::sinks::rotating_file_sink_st> file_;  // null: not open
    std::string trouble_;
    std::optional<Clock::time_point> last_try_;
};

class Journal {
public:
    Journal(const std::string& folder, const std::string& level)
        : file_(std::make_shared<LogFile>(folder)) {
        std::vector<spdlog::sink_ptr> sinks = {file_};
        if (::isatty(STDERR_FILENO) != 0)
            sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
        logger_ = std::make_unique<spdlog::logger>("hearthd", sinks.begin(), sinks.end());
        logger_->set_pattern("%Y-%m-%d %H:%M:%S.%e %L %v");
        logger_->set_level(spdlog::level::from_str(level));
        logger_->flush_on(spdlog::level::debug);  // lines are few, and a crash must not lose them
    }

    void take(LogLevel level, std::string_view line) {
        if (!logger_->should_log(level_of(level))) return;
        LogLine clean{level, redacted(printable(line))};
        const std::lock_guard lock(mutex_);
        write(limit_.take(Clock::now(), std::move(clean)));
    }
    void finish() {
        const std::lock_guard lock(mutex_);
        write(limit_.finish());
    }
    std::string trouble() const { return file_->trouble(); }

private:
    void write(const std::vector<LogLine>& lines) {
        for (const LogLine& line : lines) logger_->log(level_of(line.level), line.text);
    }

    std::shared_ptr<LogFile> file_;  // the logger owns it as well
    std::unique_ptr<spdlog::logger> logger_;
    std::mutex mutex_;
    LogLimit limit_;
};

// One per process, as the sink of engine/base/log.h is.
std::unique_ptr<Journal>& journal() {
    static std::unique_ptr<Journal> instance;
    return instance;
}

}  // namespace

void start_logging(const std::string& folder, const std::string& level) {
    journal() = std::make_unique<Journal>(folder, level);
    set_log_sink([](LogLevel at, std::string_view line) { journal()->take(at, line); });
}

void stop_logging() {
    set_log_sink({});
    if (journal()) journal()->finish();
    journal().reset();
}

std::string log_trouble() { return journal() ? journal()->trouble() : ""; }

}  // namespace hearth::app
