#include "ipc/cli/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace hearth::cli {
namespace {

constexpr int kFiles = 5;
// "2026-01-31 23:59:59.123 I the text"
constexpr std::size_t kLevelColumn = 24;
constexpr std::array<std::pair<std::string_view, char>, 4> kLevels = {
    {{"debug", 'D'}, {"info", 'I'}, {"warning", 'W'}, {"error", 'E'}}};

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
    return lines;
}

}  // namespace

bool has_level(std::string_view line, std::string_view level) {
    if (line.size() <= kLevelColumn) return true;
    std::size_t wanted = 0;
    std::size_t given = kLevels.size();
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
        if (kLevels[i].first == level) wanted = i;
        if (kLevels[i].second == line[kLevelColumn]) given = i;
    }
    return given >= wanted;
}

LogReader::LogReader(std::string folder, std::string level)
    : folder_(std::move(folder)), level_(std::move(level)) {}

LogReader::~LogReader() {
    if (current_ >= 0) ::close(current_);
}

std::string LogReader::path(int number) const {
    return folder_ + "/hearthd." + (number == 0 ? "" : std::to_string(number) + ".") + "log";
}

bool LogReader::has_files() const { return ::access(path(0).c_str(), F_OK) == 0; }

std::vector<std::string> LogReader::last(std::size_t count) {
    std::vector<std::string> newest_first;
    open_current();
    std::vector<std::string> lines;
    read_rest(lines);
    for (int number = 0; number < kFiles; ++number) {
        if (number > 0) lines = lines_of(path(number));
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
            if (newest_first.size() == count) break;
            if (number == 0 || has_level(*line, level_)) newest_first.push_back(std::move(*line));
        }
        if (newest_first.size() == count) break;
    }
    std::ranges::reverse(newest_first);
    return newest_first;
}

std::vector<std::string> LogReader::more() {
    std::vector<std::string> lines;
    if (current_ < 0) open_current();
    read_rest(lines);
    if (current_ >= 0 && is_replaced()) {
        read_rest(lines);  // what came before it was replaced
        open_current();
        read_rest(lines);
    }
    return lines;
}

void LogReader::open_current() {
    if (current_ >= 0) ::close(current_);
    current_ = ::open(path(0).c_str(), O_RDONLY | O_CLOEXEC);
    started_.clear();
}

void LogReader::read_rest(std::vector<std::string>& lines) {
    std::array<char, 65536> buffer;
    while (current_ >= 0) {
        const ssize_t got = ::read(current_, buffer.data(), buffer.size());
        if (got <= 0) return;
        take({buffer.data(), static_cast<std::size_t>(got)}, lines);
    }
}

bool LogReader::is_replaced() const {
    struct stat ours{};
    struct stat there{};
    if (::fstat(current_, &ours) != 0 || ::stat(path(0).c_str(), &there) != 0) return false;
    return ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
}

void LogReader::take(std::string_view bytes, std::vector<std::string>& lines) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        started_ += bytes.substr(0, end);
        if (end == std::string_view::npos) return;
        bytes.remove_prefix(end + 1);
        std::string line = std::exchange(started_, {});
        if (has_level(line, level_)) lines.push_back(std::move(line));
    }
}

}  // namespace hearth::cli
