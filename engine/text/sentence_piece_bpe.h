// SentencePiece-style BPE as LLaMA 2 and Gemma use it: spaces become U+2581, then neighbouring
// pieces merge whenever their concatenation is a token, highest score first, then leftmost.
// Characters that are no token become byte tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/text_encoder.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {

class SentencePieceBpe : public TextEncoder {
public:
    // Borrows the vocabulary, whose scores are finite. `space_prefix`: text at the start or after a
    // special token gets a space before it.
    SentencePieceBpe(const Vocabulary& vocabulary, bool space_prefix);

    void encode(std::string_view text, bool after_special,
                std::vector<TokenId>& out) const override;

private:
    struct Token {
        TokenId id;
        std::uint32_t rank;  // 0 for the highest score; equal scores have equal ranks
    };
    void index_tokens();
    void emit(std::string_view piece, std::vector<TokenId>& out) const;

    const Vocabulary& vocabulary_;
    bool space_prefix_;
    std::size_t longest_ = 0;  // bytes of the longest piece that merging may make
    std::unordered_map<std::string_view, Token> tokens_;
    std::array<TokenId, 256> byte_tokens_;  // -1: none
};

}  // namespace hearth::text
