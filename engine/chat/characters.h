// Characters of UTF-8 text as Python counts them: positions, classes and case. A byte that is not
// UTF-8 is one character without a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::chat {

struct Character {
    std::int32_t code;   // a code point, or -1 for a byte that is not UTF-8
    std::size_t length;  // bytes
};

// The character that starts at `at`, which must be inside.
Character character_at(std::string_view text, std::size_t at);
// The character that ends before `end` > 0.
Character character_before(std::string_view text, std::size_t end);
bool is_valid_utf8(std::string_view text);
std::size_t count_characters(std::string_view text);
// Byte position of character `index`, or the size of the text when there are fewer.
std::size_t byte_of_character(std::string_view text, std::size_t index);
// At most `limit` characters of the text.
std::string_view first_characters(std::string_view text, std::size_t limit);

// As str.isspace, isalpha, … of one character.
bool is_space(std::int32_t code);
bool is_letter(std::int32_t code);
bool is_number(std::int32_t code);  // decimal digits and other numbers
bool is_upper(std::int32_t code);
bool is_lower(std::int32_t code);
bool is_cased(std::int32_t code);
bool is_printable(std::int32_t code);

void append_character(std::string& out, std::int32_t code);

// Position of `needle` in text[from, end), or npos; linear in both lengths.
std::size_t find_text(std::string_view text, std::string_view needle, std::size_t from = 0);
// Copies both texts when the needle is long.
std::size_t find_last_text(std::string_view text, std::string_view needle);

// [begin, end) of what str.strip() leaves.
struct Span {
    std::size_t begin;
    std::size_t end;
};
Span strip_spaces(std::string_view text);
// Where the white space at the start ends.
std::size_t after_spaces(std::string_view text);
// Where the white space at the end begins.
std::size_t end_without_spaces(std::string_view text);

}  // namespace hearth::chat
