// The character classes that pre-tokenizers ask about. Categories come from utf8proc.
#pragma once

#include <cstdint>

namespace hearth::text {

enum class CharClass : std::uint8_t {
    letter,       // \p{L}
    number,       // \p{N}
    space,        // \s: the property White_Space
    punctuation,  // \p{P}
    other,        // everything else, unassigned numbers too
};

// `code` must be a Unicode scalar value.
CharClass char_class(char32_t code);

}  // namespace hearth::text
