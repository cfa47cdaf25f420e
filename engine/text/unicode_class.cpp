// One utf8proc lookup; ASCII from a table made at compile time.
#include "engine/text/unicode_class.h"

#include <utf8proc.h>

#include <array>

namespace hearth::text {
namespace {

constexpr CharClass ascii_class(int code) {
    const bool lower = code >= 'a' && code <= 'z';
    const bool upper = code >= 'A' && code <= 'Z';
    if (lower || upper) return CharClass::letter;
    if (code >= '0' && code <= '9') return CharClass::number;
    if (code == ' ' || (code >= '\t' && code <= '\r')) return CharClass::space;
    for (const char c : {'!', '"', '#', '%', '&', '\'', '(',  ')', '*', ',', '-', '.',
                         '/', ':', ';', '?', '@', '[',  '\\', ']', '_', '{', '}'}) {
        if (code == c) return CharClass::punctuation;
    }
    return CharClass::other;
}

constexpr auto kAscii = [] {
    std::array<CharClass, 128> table{};
    for (int i = 0; i < 128; ++i) table[static_cast<std::size_t>(i)] = ascii_class(i);
    return table;
}();

// White_Space above ASCII (Unicode PropList.txt).
constexpr bool is_wide_space(char32_t code) {
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

}  // namespace

CharClass char_class(char32_t code) {
    if (code < 128) return kAscii[code];
    if (is_wide_space(code)) return CharClass::space;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
            return CharClass::letter;
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO:
            return CharClass::number;
        case UTF8PROC_CATEGORY_PC:
        case UTF8PROC_CATEGORY_PD:
        case UTF8PROC_CATEGORY_PS:
        case UTF8PROC_CATEGORY_PE:
        case UTF8PROC_CATEGORY_PI:
        case UTF8PROC_CATEGORY_PF:
        case UTF8PROC_CATEGORY_PO:
            return CharClass::punctuation;
        default:
            return CharClass::other;
    }
}

}  // namespace hearth::text
