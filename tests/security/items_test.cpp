// items.txt against the tests: a number that is called tested has a suite, a fuzz target or a
// Python test of its name, and every such name is in the list.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kTests = HEARTH_SOURCE_DIR "/tests";

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The number that begins at `at`: "T039b"; empty when there is none.
std::string number_at(const std::string& text, std::size_t at) {
    if (at > 0 && is_word(text[at - 1])) return {};
    if (at + 4 > text.size() || text[at] != 'T') return {};
    if (!std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                     text.begin() + static_cast<std::ptrdiff_t>(at) + 4, is_digit))
        return {};
    const std::size_t size = at + 4 < text.size() && text[at + 4] == 'b' ? 5 : 4;
    if (at + size < text.size() && is_word(text[at + size])) return {};
    return text.substr(at, size);
}

void add_numbers_after(const std::string& text, const std::string& before,
                       std::set<std::string>& numbers) {
    for (std::size_t at = text.find(before); at != std::string::npos;
         at = text.find(before, at + 1))
        if (const std::string number = number_at(text, at + before.size()); !number.empty())
            numbers.insert(number);
}

// Suites of GoogleTest; the opening comment of a fuzz target; any mention in a Python test.
std::set<std::string> numbers_in_tests() {
    std::set<std::string> numbers;
    for (const auto& entry : fs::recursive_directory_iterator(kTests)) {
        if (!entry.is_regular_file()) continue;
        const fs::path path = entry.path();
        const std::string name = fs::relative(path, kTests);
        const std::string kind = path.extension();
        if (kind == ".cpp") {
            const std::string text = text_of(path);
            for (const char* macro : {"TEST(", "TEST_F(", "TEST_P("})
                add_numbers_after(text, macro, numbers);
            if (name.starts_with("fuzz/")) add_numbers_after(text.substr(0, 200), "// ", numbers);
        } else if (kind == ".py" || kind.empty()) {
            const std::string text = text_of(path);
            for (const char* before : {" ", "\"", "("}) add_numbers_after(text, before, numbers);
        }
    }
    return numbers;
}

struct Item {
    std::string number;
    std::string title;
    std::string state;
};

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t at = 0;
    for (std::size_t bar = line.find(" | "); bar != std::string::npos; bar = line.find(" | ", at)) {
        fields.push_back(line.substr(at, bar - at));
        at = bar + 3;
    }
    fields.push_back(line.substr(at));
    return fields;
}

std::vector<Item> items() {
    std::vector<Item> list;
    std::ifstream file(kTests / "security/items.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() == 3)
            list.push_back({fields[0], fields[1], fields[2]});
        else
            ADD_FAILURE() << "items.txt: not three fields: " << line;
    }
    return list;
}

TEST(SecurityItems, AllNumbersAreThereOnceAndInOrder) {
    std::vector<std::string> expected;
    for (int i = 1; i <= 185; ++i) {
        const std::string digits = std::to_string(1000 + i).substr(1);
        expected.push_back("T" + digits);
        if (i == 39) expected.emplace_back("T039b");
    }
    std::vector<std::string> found;
    for (const Item& item : items()) found.push_back(item.number);
    EXPECT_EQ(found, expected);
}

TEST(SecurityItems, EveryStateIsOneOfThreeAndSaysWhy) {
    for (const Item& item : items()) {
        const bool has_reason = (item.state.starts_with("part: ") && item.state.size() > 10) ||
                                (item.state.starts_with("later: ") && item.state.size() > 11);
        EXPECT_TRUE(item.state == "tested" || has_reason) << item.number << ": " << item.state;
        EXPECT_FALSE(item.title.empty()) << item.number;
    }
}

TEST(SecurityItems, WhatIsCalledTestedHasATestAndTheOtherWayRound) {
    const std::set<std::string> tests = numbers_in_tests();
    EXPECT_GT(tests.size(), 60U);
    std::set<std::string> known;
    for (const Item& item : items()) {
        known.insert(item.number);
        if (item.state.starts_with("later")) {
            EXPECT_FALSE(tests.contains(item.number))
                << item.number << " has a test: call it tested, or part of it";
        } else {
            EXPECT_TRUE(tests.contains(item.number)) << item.number << " has no test of its name";
        }
    }
    for (const std::string& number : tests)
        EXPECT_TRUE(known.contains(number)) << number << " is no number of the threat model";
}

}  // namespace
