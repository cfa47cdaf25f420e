// Knuth-Morris-Pratt, once per stop string.
#include "engine/text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace hearth::text {
namespace {

std::vector<std::size_t> borders_of(std::string_view pattern) {
    std::vector<std::size_t> border(pattern.size() + 1, 0);
    for (std::size_t i = 1; i < pattern.size(); ++i) {
        std::size_t length = border[i];
        while (length > 0 && pattern[i] != pattern[length]) length = border[length];
        border[i + 1] = pattern[i] == pattern[length] ? length + 1 : 0;
    }
    return border;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) {
    patterns_.reserve(stops.size());
    for (std::string& stop : stops) {
        Pattern pattern;
        pattern.border = borders_of(stop);
        pattern.text = std::move(stop);
        patterns_.push_back(std::move(pattern));
    }
}

std::size_t StopMatcher::step(char byte) {
    std::size_t longest = 0;
    for (Pattern& pattern : patterns_) {
        if (pattern.text.empty()) continue;
        std::size_t matched = pattern.matched;
        while (matched > 0 && pattern.text[matched] != byte) matched = pattern.border[matched];
        pattern.matched = pattern.text[matched] == byte ? matched + 1 : 0;
        longest = std::max(longest, pattern.matched);
    }
    return longest;
}

StopMatcher::Output StopMatcher::push(std::string_view text) {
    if (stopped_) return {{}, stopped_};

    // Every byte up to the current one is either shown already or in `pending`.
    std::string pending = std::exchange(held_, {});
    std::size_t undecided = 0;
    for (const char byte : text) {
        pending += byte;
        undecided = step(byte);
        for (std::size_t i = 0; i < patterns_.size(); ++i) {
            const Pattern& pattern = patterns_[i];
            if (pattern.text.empty() || pattern.matched < pattern.text.size()) continue;
            if (!stopped_ || pattern.text.size() > patterns_[*stopped_].text.size()) stopped_ = i;
        }
        if (stopped_) {
            pending.resize(pending.size() - patterns_[*stopped_].text.size());
            return {std::move(pending), stopped_};
        }
    }
    if (text.empty()) undecided = pending.size();
    held_ = pending.substr(pending.size() - undecided);
    pending.resize(pending.size() - undecided);
    return {std::move(pending), std::nullopt};
}

std::string StopMatcher::flush() {
    for (Pattern& pattern : patterns_) pattern.matched = 0;
    return std::exchange(held_, {});
}

}  // namespace hearth::text
