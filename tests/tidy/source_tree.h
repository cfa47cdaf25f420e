// The repository's own source files, read once for all tidy tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::tidy {

struct SourceFile {
    std::string path;    // relative to the root: "engine/base/check.h"
    std::string folder;  // "engine/base"; for a deeper file still two levels
    std::vector<std::string> lines;
    std::vector<std::string> code;  // the lines with comments and literals blanked out

    bool is_header() const { return path.ends_with(".h"); }
    bool is_test() const { return path.starts_with("tests/"); }
    // Kernel files may have longer functions and raw casts of vectors.
    bool is_kernel() const;
};

// All .h, .cpp, .cu and .cuh files below the top folders, sorted by path.
const std::vector<SourceFile>& source_files();

std::vector<std::string> read_lines(const std::string& path_from_root);
std::vector<std::string> split_words(std::string_view text);

// True when tests/tidy/exempt.txt lists the rule for the path, or for "path:detail".
bool is_exempt(std::string_view rule, const std::string& path, const std::string& detail = "");

}  // namespace hearth::tidy
