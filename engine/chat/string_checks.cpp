// Checks of whole texts; see string_checks.h.
#include "engine/chat/string_checks.h"

#include <utf8proc.h>

#include "engine/chat/characters.h"

namespace hearth::chat {
namespace {

template <typename Check>
bool all(std::string_view text, Check check) {
    for (std::size_t at = 0; at < text.size();) {
        const Character next = character_at(text, at);
        if (!check(next.code)) return false;
        at += next.length;
    }
    return !text.empty();
}

bool is_decimal(std::int32_t code) {
    return code >= 0 && utf8proc_category(code) == UTF8PROC_CATEGORY_ND;
}

// Digits that are no decimals: superscripts and subscripts (the circled ones are left out).
bool is_digit(std::int32_t code) {
    return is_decimal(code) || code == 0xb2 || code == 0xb3 || code == 0xb9 || code == 0x2070 ||
           (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089);
}

}  // namespace

bool is_all_letters(std::string_view text) { return all(text, is_letter); }

bool is_all_letters_or_numbers(std::string_view text) {
    return all(text, [](std::int32_t code) { return is_letter(code) || is_number(code); });
}

bool is_all_digits(std::string_view text) { return all(text, is_digit); }
bool is_all_decimals(std::string_view text) { return all(text, is_decimal); }
bool is_all_numbers(std::string_view text) { return all(text, is_number); }
bool is_all_spaces(std::string_view text) { return all(text, is_space); }

bool is_all_upper(std::string_view text) {
    bool has_cased = false;
    return all(text,
               [&has_cased](std::int32_t code) {
                   has_cased |= is_upper(code);
                   return !is_cased(code) || is_upper(code);
               }) &&
           has_cased;
}

bool is_all_lower(std::string_view text) {
    bool has_cased = false;
    return all(text,
               [&has_cased](std::int32_t code) {
                   has_cased |= is_lower(code);
                   return !is_cased(code) || is_lower(code);
               }) &&
           has_cased;
}

bool is_all_ascii(std::string_view text) {
    return text.empty() || all(text, [](std::int32_t code) { return code >= 0 && code < 0x80; });
}

bool is_all_title(std::string_view text) {
    bool after_cased = false;
    bool has_cased = false;
    return all(text,
               [&](std::int32_t code) {
                   const bool is_good =
                       !is_cased(code) || (is_lower(code) ? after_cased : !after_cased);
                   after_cased = is_cased(code);
                   has_cased |= after_cased;
                   return is_good;
               }) &&
           has_cased;
}

}  // namespace hearth::chat
