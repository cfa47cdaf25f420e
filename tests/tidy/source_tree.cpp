#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hearth::tidy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTopFolders[] = {"daemon", "engine", "gui",       "installer",
                                            "ipc",    "models", "resources", "tests"};

// Blanks comments, strings and characters, keeping columns, so that rules look at code only.
class Blanker {
public:
    std::string blank(const std::string& line) {
        std::string out = line;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (in_block_) {
                if (line.compare(i, 2, "*/") == 0) {
                    in_block_ = false;
                    out[i] = ' ';
                    ++i;
                }
                out[i] = ' ';
            } else if (line.compare(i, 2, "/*") == 0) {
                in_block_ = true;
                out[i] = ' ';
            } else if (line.compare(i, 2, "//") == 0) {
                out.resize(i);
                break;
            } else if (line.compare(i, 3, "R\"(") == 0) {
                i = skip_raw(line, out, i);
            } else if (line[i] == '"' || (line[i] == '\'' && !is_digit_separator(line, i))) {
                i = skip_literal(line, out, i);
            }
        }
        return out;
    }

private:
    static bool is_digit_separator(const std::string& line, std::size_t i) {
        return i > 0 && std::isxdigit(static_cast<unsigned char>(line[i - 1])) != 0;
    }
    static std::size_t skip_literal(const std::string& line, std::string& out, std::size_t i) {
        const char quote = line[i];
        std::size_t end = i + 1;
        while (end < line.size() && line[end] != quote) end += line[end] == '\\' ? 2 : 1;
        for (std::size_t k = i + 1; k < std::min(end, line.size()); ++k) out[k] = ' ';
        return end;
    }
    static std::size_t skip_raw(const std::string& line, std::string& out, std::size_t i) {
        const std::size_t end = std::min(line.find(")\"", i), line.size());
        for (std::size_t k = i; k < end; ++k) out[k] = ' ';
        return end + 1;
    }

    bool in_block_ = false;
};

SourceFile read_source(const fs::path& root, const fs::path& path) {
    SourceFile file;
    file.path = fs::relative(path, root).generic_string();
    const std::size_t first = file.path.find('/');
    const std::size_t second = file.path.find('/', first + 1);
    file.folder = file.path.substr(0, second == std::string::npos ? first : second);
    file.lines = read_lines(file.path);
    Blanker blanker;
    for (const std::string& line : file.lines) file.code.push_back(blanker.blank(line));
    return file;
}

std::vector<SourceFile> read_all() {
    const fs::path root = HEARTH_SOURCE_DIR;
    std::vector<SourceFile> files;
    for (const std::string_view top : kTopFolders) {
        if (!fs::exists(root / top)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".h" || extension == ".cpp" || extension == ".cu" ||
                extension == ".cuh")
                files.push_back(read_source(root, entry.path()));
        }
    }
    std::ranges::sort(files, {}, &SourceFile::path);
    return files;
}

}  // namespace

bool SourceFile::is_kernel() const {
    return folder == "engine/cuda" ||
           (folder == "engine/cpu" &&
            (path.ends_with("_inl.h") || path.find("/simd_") != std::string::npos));
}

const std::vector<SourceFile>& source_files() {
    static const std::vector<SourceFile> files = read_all();
    return files;
}

std::vector<std::string> read_lines(const std::string& path_from_root) {
    std::ifstream in(std::string(HEARTH_SOURCE_DIR) + "/" + path_from_root);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> split_words(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

bool is_exempt(std::string_view rule, const std::string& path, const std::string& detail) {
    static const std::vector<std::string> lines = read_lines("tests/tidy/exempt.txt");
    return std::ranges::any_of(lines, [&](const std::string& line) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() < 3 || words[0] != rule) return false;
        return words[1] == path || (!detail.empty() && words[1] == path + ":" + detail);
    });
}

}  // namespace hearth::tidy
