// Byte-level BPE: words of the pre-tokenizer, whose bytes are merged pair by pair in the order of
// the merge list (lowest rank first, then leftmost).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/text_encoder.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {

class ByteLevelBpe : public TextEncoder {
public:
    // Borrows the vocabulary. Errors: model_invalid (tokenizer.ggml.merges missing or malformed).
    static Result<std::unique_ptr<ByteLevelBpe>> load(const gguf::Metadata& metadata,
                                                      const Vocabulary& vocabulary,
                                                      const PreTokenizer& rules);

    void encode(std::string_view text, bool after_special,
                std::vector<TokenId>& out) const override;

private:
    // A token id, or a number from the vocabulary's size on for text that merges name but no token
    // has.
    using Symbol = std::int32_t;
    struct Merge {
        std::uint64_t pair = kNoPair;  // left symbol in the high half, right one in the low half
        std::uint32_t rank = 0;
        Symbol result = -1;
    };
    struct Scratch;  // buffers that words share
    static constexpr std::uint64_t kNoPair = ~std::uint64_t{0};

    ByteLevelBpe(const Vocabulary& vocabulary, const PreTokenizer& rules)
        : vocabulary_(vocabulary), rules_(rules) {}
    void index_tokens();
    Result<void> load_merges(std::span<const std::string> merges);
    Symbol intern(std::string_view bytes);
    void insert_merge(const Merge& merge);
    const Merge* find_merge(Symbol left, Symbol right) const;
    void encode_word(std::string_view word, Scratch& scratch, std::vector<TokenId>& out) const;
    void emit(Symbol symbol, std::vector<TokenId>& out) const;

    const Vocabulary& vocabulary_;
    PreTokenizer rules_;
    std::unordered_map<std::string_view, Symbol> symbols_;  // by bytes
    std::deque<std::string> absent_;  // bytes of symbols that are no tokens, in order of number
    std::array<Symbol, 256> byte_symbols_{};
    std::vector<Merge> merges_;  // open addressing, a power of two long
};

}  // namespace hearth::text
