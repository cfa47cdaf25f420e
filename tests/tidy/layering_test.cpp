// Includes go one way, as tests/tidy/layers.txt says, and third-party headers stay where they
// belong.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "tests/tidy/source_tree.h"

namespace hearth::tidy {
namespace {

struct Layer {
    std::set<std::string> folders;
    std::set<std::string> groups;
};

std::map<std::string, Layer> read_layers() {
    std::map<std::string, Layer> layers;
    for (const std::string& line : read_lines("tests/tidy/layers.txt")) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        const auto names = split_words(std::string_view(line).substr(0, first));
        const auto folders =
            split_words(std::string_view(line).substr(first + 1, second - first - 1));
        const auto groups = split_words(std::string_view(line).substr(second + 1));
        layers[names.at(0)] = {{folders.begin(), folders.end()}, {groups.begin(), groups.end()}};
    }
    return layers;
}

struct Group {
    std::string_view prefix;
    std::string_view name;
};

// The longest matching prefix wins. Headers that match none are the standard library's or the
// system's.
constexpr Group kGroups[] = {
    {"boost/json", "json"},
    {"boost/", "boost"},
    {"sqlite3", "sqlite"},
    {"spdlog/", "spdlog"},
    {"toml++/", "toml"},
    {"CLI/", "cli"},
    {"histedit", "cli"},
    {"editline/", "cli"},
    {"utf8proc", "unicode"},
    {"unicode/", "unicode"},
    {"openssl/", "crypto"},
    {"xxhash", "crypto"},
    {"seccomp", "sandbox"},
    {"linux/landlock", "sandbox"},
    {"immintrin", "intrinsics"},
    {"arm_neon", "intrinsics"},
    {"cuda", "cuda"},
    {"Q", "qt"},
    {"curl/", "curl"},
    {"zstd", "zstd"},
    {"nlohmann/", "forbidden"},
    {"regex", "forbidden"},
};

std::optional<std::string> group_of(const std::string& header) {
    for (const Group& group : kGroups)
        if (header.starts_with(group.prefix)) return std::string(group.name);
    return std::nullopt;
}

// The header of an #include line, without its marks; `own` tells quotes from angle brackets.
std::optional<std::string> included(const std::string& line, bool& own) {
    if (!line.starts_with("#include")) return std::nullopt;
    const std::size_t open = line.find_first_of("\"<");
    if (open == std::string::npos) return std::nullopt;
    own = line[open] == '"';
    const std::size_t close = line.find(own ? '"' : '>', open + 1);
    return line.substr(open + 1, close - open - 1);
}

std::string folder_of(const std::string& header) {
    const std::size_t first = header.find('/');
    const std::size_t second = header.find('/', first + 1);
    return header.substr(0, second == std::string::npos ? first : second);
}

TEST(Layering, EveryIncludeGoesDownwards) {
    const auto layers = read_layers();
    for (const SourceFile& file : source_files()) {
        if (file.is_test()) continue;
        const auto layer = layers.find(file.folder);
        ASSERT_NE(layer, layers.end()) << file.path << ": folder is not in tests/tidy/layers.txt";
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            bool own = false;
            const auto header = included(file.lines[i], own);
            if (!header || is_exempt("include", file.path, *header)) continue;
            const std::string at = file.path + ":" + std::to_string(i + 1);
            if (own) {
                const std::string folder = folder_of(*header);
                EXPECT_TRUE(folder == file.folder || layer->second.folders.contains(folder))
                    << at << ": " << file.folder << " may not include " << folder
                    << "; move what both need down, or pass it in";
            } else if (const auto group = group_of(*header)) {
                EXPECT_TRUE(layer->second.groups.contains(*group))
                    << at << ": <" << *header << "> belongs to group " << *group
                    << ", which this folder may not use";
            }
        }
    }
}

TEST(Layering, TheListHasNoCycle) {
    const auto layers = read_layers();
    std::set<std::string> done;
    for (std::size_t round = 0; round < layers.size(); ++round)
        for (const auto& [name, layer] : layers) {
            bool ready = true;
            for (const std::string& used : layer.folders) ready = ready && done.contains(used);
            if (ready) done.insert(name);
        }
    EXPECT_EQ(done.size(), layers.size()) << "folders include each other in a circle";
}

}  // namespace
}  // namespace hearth::tidy
