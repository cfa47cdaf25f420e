#include "daemon/app/config_file.h"

#include <toml++/toml.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace hearth::app {
namespace {

template <typename Number>
std::string shortest(Number number) {
    std::array<char, 40> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return shortest(whole->get());
    if (const auto* number = node.as_floating_point()) return shortest(number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    return std::nullopt;
}

}  // namespace

Result<std::vector<ConfigEntry>> read_config_file(const std::string& path) {
    std::vector<ConfigEntry> entries;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return entries;
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::io_failed, path + " cannot be read"};
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    toml::table table;
    try {
        table = toml::parse(text, path);
    } catch (const toml::parse_error& failure) {
        return Error{ErrorCode::bad_input, path + ":" +
                                               std::to_string(failure.source().begin.line) + ": " +
                                               std::string(failure.description())};
    }
    for (const auto& [key, node] : table) {
        const auto value = text_of(node);
        const int line = static_cast<int>(key.source().begin.line);
        if (!value)
            return Error{ErrorCode::bad_input, path + ":" + std::to_string(line) + ": '" +
                                                   std::string(key.str()) +
                                                   "' must be a text or a number"};
        entries.push_back({std::string(key.str()), *value, line});
    }
    return entries;
}

}  // namespace hearth::app
