// The limits of the house style, as tests: each failure prints file, line, rule, and what to do
// instead.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tidy/functions.h"
#include "tests/tidy/source_tree.h"

namespace hearth::tidy {
namespace {

std::string at(const SourceFile& file, std::size_t index) {
    return file.path + ":" + std::to_string(index + 1) + ": ";
}

TEST(Tidy, FilesHaveAtMost500LinesAndPublicHeaders200) {
    for (const SourceFile& file : source_files()) {
        if (is_exempt("file_length", file.path)) continue;
        const bool is_public = file.is_header() && !file.is_test() && !file.is_kernel();
        EXPECT_LE(file.lines.size(), is_public ? 200U : 500U)
            << file.path << ": too long; split it by noun";
    }
}

TEST(Tidy, LinesHaveAtMost100Columns) {
    for (const SourceFile& file : source_files())
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const auto columns = std::ranges::count_if(file.lines[i], [](char c) {
                return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
            });
            EXPECT_LE(columns, 100) << at(file, i) << "line too wide; run clang-format";
        }
}

TEST(Tidy, FunctionsFitOneScreen) {
    for (const SourceFile& file : source_files())
        for (const Function& function : functions_of(file)) {
            if (is_exempt("function_length", file.path, function.name)) continue;
            EXPECT_LE(function.lines, file.is_kernel() ? 120 : 60)
                << at(file, function.first_line) << function.name
                << " is too long; split it into stages";
        }
}

TEST(Tidy, FunctionsTakeAtMostFiveParameters) {
    for (const SourceFile& file : source_files()) {
        if (file.is_kernel()) continue;
        for (const Function& function : functions_of(file)) {
            if (is_exempt("parameters", file.path, function.name)) continue;
            EXPECT_LE(function.parameters, 5)
                << at(file, function.first_line) << function.name << ": pass a struct instead";
        }
    }
}

TEST(Tidy, DangerousWordsCarryAReason) {
    for (const SourceFile& file : source_files()) {
        if (file.is_kernel()) continue;
        for (std::size_t i = 0; i < file.code.size(); ++i)
            for (const std::string_view word : {"shared_ptr", "reinterpret_cast", "const_cast"}) {
                if (file.code[i].find(word) == std::string::npos) continue;
                const bool has_reason =
                    file.lines[i].find("//") != std::string::npos ||
                    (i > 0 && file.lines[i - 1].find("//") != std::string::npos);
                EXPECT_TRUE(has_reason)
                    << at(file, i) << word << " needs a comment on this line or the one before";
            }
    }
}

struct Banned {
    std::string_view text;
    std::string_view instead;
    bool in_tests;  // banned in tests, too
};

constexpr Banned kBanned[] = {
    {"using namespace", "name what you use", false},
    {"std::endl", "write '\\n'", true},
    {"std::regex", "write a scanner", true},
    {"std::stoi", "use std::from_chars", true},
    {"std::stof", "use std::from_chars", true},
    {"rand()", "pass a generator with a seed", true},
    {"sleep_for", "wait for a condition, or use a fake clock", true},
    {"#if HEARTH_CUDA", "backends differ by folder; see engine/device", true},
};

TEST(Tidy, BannedWordsAreAbsent) {
    for (const SourceFile& file : source_files())
        for (std::size_t i = 0; i < file.code.size(); ++i)
            for (const Banned& banned : kBanned) {
                if (file.code[i].find(banned.text) == std::string::npos) continue;
                if (file.is_test() && !banned.in_tests) continue;
                if (file.path == "tests/tidy/tidy_test.cpp") continue;
                if (is_exempt("banned", file.path, std::string(banned.text))) continue;
                ADD_FAILURE() << at(file, i) << banned.text << ": " << banned.instead;
            }
}

TEST(Tidy, OnlyProgramsPrint) {
    for (const SourceFile& file : source_files()) {
        if (file.path.ends_with("main.cpp") || file.path.starts_with("tests/bench/")) continue;
        for (std::size_t i = 0; i < file.code.size(); ++i) {
            const std::size_t found = file.code[i].find("printf(");
            if (found == std::string::npos) continue;
            const bool formats_to_memory = found >= 2 && file.code[i].substr(found - 2, 2) == "sn";
            EXPECT_TRUE(formats_to_memory || is_exempt("printf", file.path))
                << at(file, i) << "printf belongs to main.cpp";
        }
    }
}

TEST(Tidy, NoUnfinishedMarksAndNoDeadCode) {
    const std::string marks[] = {std::string("FIX") + "ME", std::string("TO") + "DO",
                                 std::string("XX") + "X"};
    for (const SourceFile& file : source_files())
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            for (const std::string& mark : marks)
                EXPECT_EQ(file.lines[i].find(mark), std::string::npos)
                    << at(file, i) << "finish it or file it";
            const std::size_t comment = file.lines[i].find_first_not_of(' ');
            if (comment == std::string::npos || file.lines[i].compare(comment, 2, "//") != 0)
                continue;
            EXPECT_FALSE(file.lines[i].ends_with(");") || file.lines[i].ends_with("};"))
                << at(file, i) << "commented-out code; delete it";
        }
}

TEST(Tidy, HeadersAreGuardedByPragmaOnce) {
    for (const SourceFile& file : source_files()) {
        if (!file.is_header() || file.path.ends_with("_inl.h")) continue;
        EXPECT_TRUE(std::ranges::find(file.lines, "#pragma once") != file.lines.end()) << file.path;
    }
}

TEST(Tidy, EverySourceFileIsInABuildFile) {
    for (const SourceFile& file : source_files()) {
        if (file.is_header()) continue;
        std::string folder = file.path.substr(0, file.path.rfind('/'));
        bool found = false;
        for (; !found; folder = folder.substr(0, folder.rfind('/'))) {
            const std::string from_here = file.path.substr(folder.size() + 1);
            for (const std::string& line : read_lines(folder + "/CMakeLists.txt"))
                found = found || line.find(from_here) != std::string::npos;
            if (folder.find('/') == std::string::npos) break;
        }
        EXPECT_TRUE(found) << file.path << ": in no CMakeLists.txt; add it or delete it";
    }
}

}  // namespace
}  // namespace hearth::tidy
