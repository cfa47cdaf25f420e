#include "engine/text/stop_matcher.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace hearth::text {
namespace {

struct Ending {
    std::string text;
    std::optional<std::size_t> stop;
    bool operator==(const Ending&) const = default;
};

// The meaning, on the whole string: the stop that ends first, of those the longest, of those the
// first in the list.
Ending reference(const std::string& text, const std::vector<std::string>& stops) {
    for (std::size_t end = 1; end <= text.size(); ++end) {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < stops.size(); ++i) {
            if (stops[i].empty() || !text.substr(0, end).ends_with(stops[i])) continue;
            if (!best || stops[i].size() > stops[*best].size()) best = i;
        }
        if (best) return {text.substr(0, end - stops[*best].size()), best};
    }
    return {text, std::nullopt};
}

// How much of `text`, of which nothing matched, no later text can make part of a stop string.
std::size_t safe_length(const std::string& text, const std::vector<std::string>& stops) {
    for (std::size_t start = 0; start < text.size(); ++start) {
        for (const std::string& stop : stops) {
            if (stop.starts_with(text.substr(start))) return start;
        }
    }
    return text.size();
}

Ending run(const std::vector<std::string>& pieces, const std::vector<std::string>& stops) {
    StopMatcher matcher(stops);
    Ending result;
    for (const std::string& piece : pieces) {
        const auto output = matcher.push(piece);
        result.text += output.text;
        result.stop = output.stop;
    }
    result.text += matcher.flush();
    return result;
}

struct Case {
    const char* name;
    std::vector<std::string> pieces;
    std::vector<std::string> stops;
    Ending expected;
};

TEST(T034, StopsAcrossPiecesHideExactlyTheStopString) {
    const Case cases[] = {
        {"no stops", {"a", "b"}, {}, {"ab", std::nullopt}},
        {"empty stop", {"a", "b"}, {""}, {"ab", std::nullopt}},
        {"in one piece", {"say STOP now"}, {"STOP"}, {"say ", 0}},
        {"across pieces", {"say S", "T", "OP now"}, {"STOP"}, {"say ", 0}},
        {"in the first piece", {"STOP", "x"}, {"STOP"}, {"", 0}},
        {"only its head", {"say STO"}, {"STOP"}, {"say STO", std::nullopt}},
        {"false start", {"aab", "aaab"}, {"aaab"}, {"aab", 0}},
        {"overlapping heads", {"abab", "abc"}, {"ababc"}, {"ab", 0}},
        {"one a prefix of another", {"x<|e", "nd|>"}, {"<|end|>", "<|e"}, {"x", 1}},
        {"one inside another", {"abcd"}, {"abcd", "bc"}, {"a", 1}},
        {"one the end of another", {"xabc"}, {"bc", "abc"}, {"x", 1}},
        {"the same twice", {"ab"}, {"b", "b"}, {"a", 0}},
        {"at the very end", {"tail", "END"}, {"END"}, {"tail", 0}},
        {"a line break", {"one\n", "\ntwo"}, {"\n\n"}, {"one", 0}},
        {"several bytes a character",
         {"\xE2\x82\xAC\xE2\x82\xAD"},
         {"\xE2\x82\xAD"},
         {"\xE2\x82\xAC", 0}},
        {"a NUL", {std::string("a\0b", 3)}, {std::string("\0b", 2)}, {"a", 0}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(run(c.pieces, c.stops), c.expected);
        std::string whole;
        for (const std::string& piece : c.pieces) whole += piece;
        EXPECT_EQ(reference(whole, c.stops), c.expected);
    }
}

TEST(T034, RandomTextsCutAnywhereEqualTheWholeStringReference) {
    std::mt19937 random(5);
    const auto draw = [&](std::size_t longest) {
        std::string text(random() % (longest + 1), ' ');
        for (char& c : text) c = static_cast<char>('a' + random() % 3);
        return text;
    };
    int matches = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::string> stops(1 + random() % 4);
        for (std::string& stop : stops) stop = draw(6);
        const std::string text = draw(24);
        const Ending expected = reference(text, stops);
        matches += expected.stop ? 1 : 0;

        StopMatcher matcher(stops);
        std::string shown;
        std::size_t at = 0;
        while (at < text.size() && !matcher.stopped()) {
            const std::size_t length = std::min<std::size_t>(random() % 4, text.size() - at);
            shown += matcher.push(text.substr(at, length)).text;
            at += length;
            if (!matcher.stopped()) {
                ASSERT_EQ(shown.size(), safe_length(text.substr(0, at), stops));
            }
        }
        const auto after = matcher.push("abcabc");
        if (expected.stop) {
            EXPECT_TRUE(after.text.empty());
            EXPECT_EQ(after.stop, expected.stop);
            EXPECT_TRUE(matcher.flush().empty());
        } else {
            continue;
        }
        ASSERT_EQ(shown, expected.text);
    }
    EXPECT_GT(matches, 5000);
}

TEST(StopMatcher, WhatIsHeldBackComesOutInTheEnd) {
    std::mt19937 random(6);
    for (int round = 0; round < 5000; ++round) {
        std::string text(random() % 20, ' ');
        for (char& c : text) c = static_cast<char>('a' + random() % 2);
        const std::vector<std::string> stops = {"abababc", "bbbbbbbc", "c"};
        std::vector<std::string> pieces;
        for (const char c : text) pieces.emplace_back(1, c);
        EXPECT_EQ(run(pieces, stops), (Ending{text, std::nullopt}));
    }
}

}  // namespace
}  // namespace hearth::text
