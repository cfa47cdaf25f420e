#include "daemon/supervise/health.h"

#include <sys/stat.h>

namespace hearth::supervise {
namespace {

constexpr std::size_t kLoadDeaths = 2;
constexpr std::size_t kAnswerDeaths = 5;

// Refusals that depend on nothing but the file.
bool is_about_the_file(ErrorCode code) {
    return code == ErrorCode::unsupported_format || code == ErrorCode::unsupported_version ||
           code == ErrorCode::unsupported_model || code == ErrorCode::model_corrupt ||
           code == ErrorCode::model_invalid;
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return {};
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    return {.device = facts.st_dev,
            .inode = facts.st_ino,
            .size = static_cast<std::uint64_t>(facts.st_size),
            .modified_ns = facts.st_mtim.tv_sec * kNanoseconds + facts.st_mtim.tv_nsec};
}

Health::Health(std::chrono::milliseconds window, std::map<std::string, std::string> quarantined,
               OnQuarantine on_quarantine)
    : window_(window),
      quarantined_(std::move(quarantined)),
      on_quarantine_(std::move(on_quarantine)) {}

std::optional<Error> Health::refusal(const std::string& id, const FileStamp& file, Time now) {
    if (const auto found = quarantined_.find(id); found != quarantined_.end())
        return Error{ErrorCode::quarantined,
                     "the model " + id + " is quarantined: " + found->second +
                         "; check its file and the free memory, then load it with: hearth load " +
                         id + " --force"};
    const auto found = records_.find(id);
    if (found == records_.end()) return std::nullopt;
    Record& record = found->second;
    if (record.refusal && record.refusal->first == file) return record.refusal->second;
    drop_old(record.answer_deaths, now);
    if (record.answer_deaths.size() < kAnswerDeaths) return std::nullopt;
    const auto rest = std::chrono::ceil<std::chrono::seconds>(
        window_ - (now - record.answer_deaths[record.answer_deaths.size() - kAnswerDeaths]));
    return Error{
        ErrorCode::worker_died,
        "the process of the model " + id + " ended " + std::to_string(record.answer_deaths.size()) +
            " times within " + window_text() + " while it answered; it rests for " +
            std::to_string(rest.count()) + " s, or load it with: hearth load " + id + " --force"};
}

void Health::died_loading(const std::string& id, const std::string& how, Time now) {
    std::deque<Time>& deaths = records_[id].load_deaths;
    deaths.push_back(now);
    drop_old(deaths, now);
    if (deaths.size() < kLoadDeaths || quarantined_.contains(id)) return;
    const std::string reason = "loading it ended its process " + std::to_string(deaths.size()) +
                               " times within " + window_text() + " (it " + how + ")";
    quarantined_[id] = reason;
    if (on_quarantine_) on_quarantine_(id, reason);
}

void Health::died_answering(const std::string& id, Time now) {
    std::deque<Time>& deaths = records_[id].answer_deaths;
    deaths.push_back(now);
    drop_old(deaths, now);
}

void Health::refused(const std::string& id, const FileStamp& file, const Error& error) {
    if (is_about_the_file(error.code)) records_[id].refusal.emplace(file, error);
}

void Health::forget(const std::string& id) {
    records_.erase(id);
    if (quarantined_.erase(id) > 0 && on_quarantine_) on_quarantine_(id, "");
}

void Health::drop_old(std::deque<Time>& deaths, Time now) const {
    while (!deaths.empty() && now - deaths.front() > window_) deaths.pop_front();
}

std::string Health::window_text() const {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(window_).count()) + " s";
}

}  // namespace hearth::supervise
