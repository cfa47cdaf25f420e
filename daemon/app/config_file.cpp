#include "daemon/app/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace hearth::app {
namespace {

constexpr off_t kMaxBytes = 1 << 20;

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

Result<void> check_owner_and_size(const std::string& path, int file) {
    struct stat facts{};
    if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
        return Error{ErrorCode::bad_input, path + " is not a regular file"};
    // It names programs that we start.
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        (facts.st_uid != ::geteuid() && facts.st_uid != 0))
        return Error{ErrorCode::forbidden,
                     path + " can be written by other users; run: chmod go-w '" + path + "'"};
    if (facts.st_size > kMaxBytes)
        return Error{ErrorCode::too_large, path + " has " + std::to_string(facts.st_size) +
                                               " bytes; settings take at most " +
                                               std::to_string(kMaxBytes)};
    return {};
}

// Nothing when there is no file.
Result<std::optional<std::string>> content_of(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
    if (file < 0)
        return Error{ErrorCode::io_failed, path + " cannot be read: " + std::strerror(errno)};
    std::string text;
    auto checked = check_owner_and_size(path, file);
    std::array<char, 4096> buffer{};
    while (checked) {
        const ssize_t got = ::read(file, buffer.data(), buffer.size());
        if (got < 0) checked = Error{ErrorCode::io_failed, path + " cannot be read"};
        if (got <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(file);
    if (!checked) return checked.error();
    return std::optional(std::move(text));
}

}  // namespace

Result<std::vector<ConfigEntry>> read_config_file(const std::string& path) {
    std::vector<ConfigEntry> entries;
    HEARTH_TRY(const std::optional<std::string> text, content_of(path));
    if (!text) return entries;
    toml::table table;
    try {
        table = toml::parse(*text, path);
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
