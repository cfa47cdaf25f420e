#include "daemon/app/log_limit.h"

namespace hearth::app {
namespace {

constexpr std::size_t kKindBytes = 60;

// "GET /health 200 0.2 ms" → "GET /health # # ms"
std::string kind_of(std::string_view line) {
    std::string kind;
    for (const char c : line) {
        if (kind.size() == kKindBytes) break;
        const bool is_number = (c >= '0' && c <= '9') || c == '.';
        if (!is_number)
            kind += c;
        else if (kind.empty() || kind.back() != '#')
            kind += '#';
    }
    return kind;
}

}  // namespace

std::vector<LogLine> LogLimit::take(Clock::time_point now, LogLine line) {
    std::vector<LogLine> out;
    if (now - window_ >= kWindow) {
        out = finish();
        window_ = now;
    }
    std::string name = kind_of(line.text);
    auto found = kinds_.find(name);
    if (found == kinds_.end() && (kinds_.size() >= kMaxKinds || written_ >= kInAll)) {
        ++counted_in_all_;
        return out;
    }
    if (found == kinds_.end()) found = kinds_.emplace(std::move(name), Kind{line, 0, 0}).first;
    Kind& kind = found->second;
    if (kind.written >= kPerKind || written_ >= kInAll) {
        ++kind.counted;
        return out;
    }
    ++kind.written;
    ++written_;
    out.push_back(std::move(line));
    return out;
}

std::vector<LogLine> LogLimit::finish() {
    std::vector<LogLine> out;
    for (const auto& [name, kind] : kinds_)
        if (kind.counted > 0)
            out.push_back({kind.first.level,
                           std::to_string(kind.counted) + " more like it: " + kind.first.text});
    if (counted_in_all_ > 0)
        out.push_back({LogLevel::warning, std::to_string(counted_in_all_) +
                                              " more lines of other kinds were not written"});
    kinds_.clear();
    counted_in_all_ = 0;
    written_ = 0;
    return out;
}

}  // namespace hearth::app
