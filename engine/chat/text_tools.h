// Operations on strings that methods and filters share. Every one keeps the origin of each byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/chat/characters.h"
#include "engine/chat/marked_string.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

enum class LetterCase : std::uint8_t { upper, lower, swap, capitalize, title };
Value change_case(Machine& machine, const MarkedString& text, LetterCase letter_case);
// The title filter of Jinja2: words begin after a space, hyphen or opening bracket.
Value title_words(Machine& machine, const MarkedString& text);

struct Sides {
    bool left;
    bool right;
};
// What is left of `text` after the characters in `characters` (null: white space) are taken off its
// ends.
Span strip(Machine& machine, std::string_view text, const Value* characters, Sides sides);

// At most `most` occurrences of `old`, or all when negative.
Value replace(Machine& machine, const MarkedString& text, const MarkedString& old,
              const MarkedString& by, std::int64_t most);

// str.split and str.rsplit; a null separator splits at white space. `most` negative: no limit.
struct SplitRule {
    const MarkedString* separator;
    std::int64_t most;
    bool from_right;
};
Value split(Machine& machine, const MarkedString& text, const SplitRule& rule);
// [begin, end) of each line, without its end, or with it.
std::vector<Span> lines_of(Machine& machine, std::string_view text, bool keep_ends);

Value join(Machine& machine, const MarkedString& separator, const std::vector<Value>& items);

enum class Align : std::uint8_t { left, right, center };
// `fill` is one character.
Value pad(Machine& machine, const MarkedString& text, std::int64_t width, Align align,
          const MarkedString& fill);

}  // namespace hearth::chat
