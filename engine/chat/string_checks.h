// str.isalpha and its relatives: about whole texts. All but is_all_ascii are false for an empty
// text.
#pragma once

#include <string_view>

namespace hearth::chat {

bool is_all_letters(std::string_view text);
bool is_all_letters_or_numbers(std::string_view text);
bool is_all_digits(std::string_view text);    // decimals, superscripts and the like
bool is_all_decimals(std::string_view text);  // what can write a number in base ten
bool is_all_numbers(std::string_view text);   // fractions and Roman numerals too
bool is_all_spaces(std::string_view text);
bool is_all_upper(std::string_view text);  // at least one cased letter, none of them lower
bool is_all_lower(std::string_view text);
bool is_all_ascii(std::string_view text);
bool is_all_title(std::string_view text);

}  // namespace hearth::chat
