// Finds special tokens in marked text: control and unknown tokens where all bytes are trusted,
// user-defined ones anywhere. At each place the longest one wins; places are tried from left to
// right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/marked_text.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {

class SpecialTokens {
public:
    explicit SpecialTokens(const Vocabulary& vocabulary);

    struct Match {
        TokenId id = -1;         // -1: none
        std::size_t length = 0;  // bytes
    };
    // The longest special token that begins at byte `at`.
    Match match(const MarkedText& text, std::size_t at) const;

private:
    // A tree of bytes.
    struct Node {
        TokenId id = -1;        // the token that ends here; -1: none
        bool anywhere = false;  // it needs no trust
    };
    std::int32_t find_child(std::int32_t node, char byte) const;  // -1: none
    void add(std::string_view piece, TokenId id, bool anywhere);

    std::array<std::int32_t, 256> roots_;
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::int32_t> children_;  // by parent and byte
};

}  // namespace hearth::text
