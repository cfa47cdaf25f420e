// What is inside tags: names, numbers, strings, operators, and the end of the tag; see lexer.h.
#include <algorithm>
#include <array>

#include "engine/chat/characters.h"
#include "engine/chat/failure.h"
#include "engine/chat/lexer.h"

namespace hearth::chat {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_digit_of(char c, int base) {
    if (base <= 10) return c >= '0' && c < '0' + base;
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Length of digits with single underscores between them, from `at`; 0 when there is no digit.
std::size_t digits_length(std::string_view text, std::size_t at, int base) {
    std::size_t end = at;
    while (end < text.size()) {
        const bool joined = end > at && text[end] == '_';
        const std::size_t digit = joined ? end + 1 : end;
        if (digit >= text.size() || !is_digit_of(text[digit], base)) break;
        end = digit + 1;
    }
    return end - at;
}

// Length of "e+10" from `at`, or 0.
std::size_t exponent_length(std::string_view text, std::size_t at) {
    if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return 0;
    std::size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t length = digits_length(text, digits, 10);
    return length == 0 ? 0 : digits + length - at;
}

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    return (c | 0x20) - 'a' + 10;
}

// Reads `count` hexadecimal digits after position `at`.
std::int32_t read_hex(std::string_view text, std::size_t at, std::size_t count) {
    std::int64_t code = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (at + i >= text.size() || !is_digit_of(text[at + i], 16))
            fail("a string has an escape with too few hexadecimal digits");
        code = code * 16 + hex_digit(text[at + i]);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        fail("a string has an escape that is no Unicode character");
    return static_cast<std::int32_t>(code);
}

// Appends what the escape at `at` (behind the backslash) stands for; returns its length.
std::size_t append_escape(std::string& out, std::string_view text, std::size_t at) {
    constexpr std::string_view kLetters = "abfnrtv\\'\"";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = text[at];
    if (const std::size_t found = kLetters.find(c); found != std::string_view::npos) {
        out.push_back(kMeanings[found]);
        return 1;
    }
    if (c == '\n') return 1;
    if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        append_character(out, read_hex(text, at + 1, digits));
        return 1 + digits;
    }
    if (is_digit_of(c, 8)) {
        std::size_t length = 0;
        std::int32_t code = 0;
        while (length < 3 && at + length < text.size() && is_digit_of(text[at + length], 8))
            code = code * 8 + (text[at + length++] - '0');
        append_character(out, code);
        return length;
    }
    if (c == 'N') fail("a string has an escape by name, which is not supported");
    out.push_back('\\');
    return 0;
}

}  // namespace

std::string unescape(std::string_view quoted) {
    const std::string_view text = quoted.substr(1, quoted.size() - 2);
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\\' && at + 1 < text.size()) {
            at += 1 + append_escape(out, text, at + 1);
        } else {
            out.push_back(text[at++]);
        }
    }
    return out;
}

bool Lexer::take_tag_end(Token& token) {
    const bool is_block = place_ == Place::block;
    const std::string_view close = is_block ? "%}" : "}}";
    std::size_t here = at_;
    const char sign = source_[here];
    if (sign == '-' || (is_block && sign == '+')) ++here;
    if (!starts_with(here, close)) return false;
    std::size_t after = here + 2;
    if (sign == '-') {
        after = after_spaces(after);
    } else if (is_block && sign != '+' && starts_with(after, "\n")) {
        ++after;
    }
    token = {is_block ? TokenKind::block_end : TokenKind::variable_end, close, line_};
    move_to(after);
    place_ = Place::text;
    return true;
}

std::size_t Lexer::number_length(TokenKind& kind) const {
    const std::string_view text = source_.substr(at_);
    kind = TokenKind::integer;
    if (text[0] == '0' && text.size() > 1) {
        const char mark = static_cast<char>(text[1] | 0x20);
        const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
        if (base != 0) {
            const std::size_t start = text.size() > 2 && text[2] == '_' ? 3 : 2;
            const std::size_t digits = digits_length(text, start, base);
            if (digits > 0) return start + digits;
        }
    }
    const std::size_t whole = digits_length(text, 0, 10);
    // "x.1.5" is two subscripts, not a subscript by 1.5.
    if (at_ == 0 || source_[at_ - 1] != '.') {
        std::size_t end = whole;
        if (end < text.size() && text[end] == '.') {
            const std::size_t fraction = digits_length(text, end + 1, 10);
            if (fraction > 0) end += 1 + fraction;
        }
        end += exponent_length(text, end);
        if (end > whole) {
            kind = TokenKind::real;
            return end;
        }
    }
    if (text[0] != '0') return whole;
    std::size_t zeros = 1;
    while (zeros < whole && (text[zeros] == '0' || text[zeros] == '_')) ++zeros;
    return text[zeros - 1] == '_' ? zeros - 1 : zeros;
}

std::size_t Lexer::name_length() const {
    std::size_t end = at_;
    while (end < source_.size()) {
        const Character next = character_at(source_, end);
        if (next.code != '_' && !is_letter(next.code) && !is_number(next.code)) break;
        end += next.length;
    }
    return end - at_;
}

std::size_t Lexer::string_length() const {
    const char quote = source_[at_];
    for (std::size_t at = at_ + 1; at < source_.size(); ++at) {
        if (source_[at] == '\\') {
            ++at;
        } else if (source_[at] == quote) {
            return at + 1 - at_;
        }
    }
    return 0;
}

Token Lexer::symbol() {
    constexpr std::array<std::string_view, 6> kLong = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kShort = "+-/*%~[](){}><=.:|,;";
    for (const std::string_view symbol : kLong)
        if (starts_with(at_, symbol)) return take(TokenKind::symbol, 2);
    const char c = source_[at_];
    if (kShort.find(c) == std::string_view::npos)
        fail_here("unexpected char '" +
                  std::string(source_.substr(at_, character_at(source_, at_).length)) + "' at " +
                  std::to_string(at_));
    if (c == '(') open_brackets_.push_back(')');
    if (c == '[') open_brackets_.push_back(']');
    if (c == '{') open_brackets_.push_back('}');
    if (c == ')' || c == ']' || c == '}') {
        if (open_brackets_.empty()) fail_here(std::string("unexpected '") + c + "'");
        if (open_brackets_.back() != c)
            fail_here(std::string("unexpected '") + c + "', expected '" + open_brackets_.back() +
                      "'");
        open_brackets_.pop_back();
    }
    return take(TokenKind::symbol, 1);
}

Token Lexer::next_inside() {
    for (;;) {
        if (at_ >= source_.size()) return {TokenKind::end, {}, line_};
        Token token{};
        if (open_brackets_.empty() && take_tag_end(token)) return token;
        const std::size_t after = after_spaces(at_);
        if (after == at_) break;
        move_to(after);
    }
    const char c = source_[at_];
    if (is_digit(c)) {
        TokenKind kind{};
        const std::size_t length = number_length(kind);
        return take(kind, length);
    }
    if (const std::size_t length = name_length(); length > 0) return take(TokenKind::name, length);
    if (c == '"' || c == '\'') {
        if (const std::size_t length = string_length(); length > 0)
            return take(TokenKind::string, length);
    }
    return symbol();
}

}  // namespace hearth::chat
