// What the two tokenizer families have in common: a stretch of plain text becomes ids.
#pragma once

#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace hearth::text {

class TextEncoder {
public:
    virtual ~TextEncoder() = default;

    // Appends the ids of `text`: valid UTF-8, not empty, without special tokens. `after_special`:
    // it begins the whole text or follows a special token. Never appends a control token. Called by
    // several threads at once.
    virtual void encode(std::string_view text, bool after_special,
                        std::vector<TokenId>& out) const = 0;
};

}  // namespace hearth::text
