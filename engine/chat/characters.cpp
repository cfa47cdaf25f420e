// UTF-8 positions by hand, classes by utf8proc; see characters.h.
#include "engine/chat/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

namespace hearth::chat {
namespace {

// Needles up to here are searched naively: at most this many comparisons a byte.
constexpr std::size_t kShortNeedle = 8;

utf8proc_category_t category(std::int32_t code) {
    return code < 0 ? UTF8PROC_CATEGORY_CN : utf8proc_category(code);
}

// memmem of the C library takes linear time and constant space; std::search does not.
std::size_t find_long(std::string_view text, std::string_view needle, std::size_t from) {
    if (from > text.size()) return std::string_view::npos;
    const void* found =
        ::memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
    if (found == nullptr) return std::string_view::npos;
    return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) return {first, 1};
    const std::size_t left = std::min<std::size_t>(text.size() - at, 4);
    utf8proc_uint8_t bytes[4] = {};
    for (std::size_t i = 0; i < left; ++i) bytes[i] = static_cast<unsigned char>(text[at + i]);
    utf8proc_int32_t code = -1;
    const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(left), &code);
    if (length <= 0) return {-1, 1};
    return {code, static_cast<std::size_t>(length)};
}

Character character_before(std::string_view text, std::size_t end) {
    std::size_t at = end - 1;
    while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    const Character found = character_at(text.substr(0, end), at);
    if (found.code >= 0 && at + found.length == end) return found;
    return {-1, 1};
}

bool is_valid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Character next = character_at(text, at);
        if (next.code < 0) return false;
        at += next.length;
    }
    return true;
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) at += character_at(text, at).length;
    return count;
}

std::size_t byte_of_character(std::string_view text, std::size_t index) {
    std::size_t at = 0;
    for (; index > 0 && at < text.size(); --index) at += character_at(text, at).length;
    return at;
}

std::string_view first_characters(std::string_view text, std::size_t limit) {
    return text.substr(0, byte_of_character(text, limit));
}

bool is_space(std::int32_t code) {
    if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
    return code == 0x85 || category(code) == UTF8PROC_CATEGORY_ZS || code == 0x2028 ||
           code == 0x2029;
}

bool is_letter(std::int32_t code) {
    const auto kind = category(code);
    return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_number(std::int32_t code) {
    const auto kind = category(code);
    return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_upper(std::int32_t code) { return category(code) == UTF8PROC_CATEGORY_LU; }

bool is_lower(std::int32_t code) {
    return category(code) == UTF8PROC_CATEGORY_LL || code == 0xaa || code == 0xba;
}

bool is_cased(std::int32_t code) {
    return is_upper(code) || is_lower(code) || category(code) == UTF8PROC_CATEGORY_LT;
}

bool is_printable(std::int32_t code) {
    if (code == ' ') return true;
    switch (category(code)) {
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_CO:
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
            return false;
        default:
            return true;
    }
}

void append_character(std::string& out, std::int32_t code) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(code, bytes);
    for (utf8proc_ssize_t i = 0; i < length; ++i) out.push_back(static_cast<char>(bytes[i]));
}

std::size_t find_text(std::string_view text, std::string_view needle, std::size_t from) {
    if (needle.size() <= kShortNeedle) return text.find(needle, from);
    return find_long(text, needle, from);
}

std::size_t find_last_text(std::string_view text, std::string_view needle) {
    if (needle.size() <= kShortNeedle) return text.rfind(needle);
    const std::string reversed_text(text.rbegin(), text.rend());
    const std::string reversed(needle.rbegin(), needle.rend());
    const std::size_t found = find_long(reversed_text, reversed, 0);
    if (found == std::string_view::npos) return found;
    return text.size() - found - needle.size();
}

std::size_t end_without_spaces(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0) {
        const Character last = character_before(text, end);
        if (!is_space(last.code)) break;
        end -= last.length;
    }
    return end;
}

std::size_t after_spaces(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Character next = character_at(text, at);
        if (!is_space(next.code)) break;
        at += next.length;
    }
    return at;
}

Span strip_spaces(std::string_view text) {
    const std::size_t end = end_without_spaces(text);
    return {std::min(after_spaces(text), end), end};
}

}  // namespace hearth::chat
