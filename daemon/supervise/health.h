// Which models may be loaded: those that did harm before are refused at once. Policy only; the
// caller tells the time.
//
// Two loads that ended their process within the window put a model into quarantine, until it is
// loaded by force or removed. Five ends while it answered within the window let it rest until they
// are older than that. A file that a worker refused is refused again while it is the same file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/result.h"

namespace hearth::supervise {

// Tells one version of a file from another.
struct FileStamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    bool operator==(const FileStamp&) const = default;
};
// All zero for a file that is not there.
FileStamp stamp_of(const std::string& path);

class Health {
public:
    using Time = std::chrono::steady_clock::time_point;
    // `reason` is empty when the quarantine is lifted.
    using OnQuarantine = std::function<void(const std::string& id, const std::string& reason)>;

    Health(std::chrono::milliseconds window, std::map<std::string, std::string> quarantined,
           OnQuarantine on_quarantine);

    // The error for a request that would load the model, or nothing.
    std::optional<Error> refusal(const std::string& id, const FileStamp& file, Time now);

    // `how` completes "the process …": "ended with signal 9".
    void died_loading(const std::string& id, const std::string& how, Time now);
    void died_answering(const std::string& id, Time now);
    void refused(const std::string& id, const FileStamp& file, const Error& error);
    // It was loaded by force, or it is removed.
    void forget(const std::string& id);

    const std::map<std::string, std::string>& quarantined() const { return quarantined_; }

private:
    struct Record {
        std::deque<Time> load_deaths;
        std::deque<Time> answer_deaths;
        std::optional<std::pair<FileStamp, Error>> refusal;
    };

    void drop_old(std::deque<Time>& deaths, Time now) const;
    std::string window_text() const;

    std::chrono::milliseconds window_;
    std::map<std::string, std::string> quarantined_;  // id → reason
    OnQuarantine on_quarantine_;
    std::map<std::string, Record> records_;
};

}  // namespace hearth::supervise
