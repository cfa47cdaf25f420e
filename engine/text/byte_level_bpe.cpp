// Symbols of a word merge by a table from pairs of symbols to ranks.
#include "engine/text/byte_level_bpe.h"

#include <bit>
#include <span>
#include <utility>

#include "engine/text/merge_list.h"

namespace hearth::text {
namespace {

constexpr std::uint64_t pack(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
}

// Spreads a pair over the table (the finisher of splitmix64).
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace

struct ByteLevelBpe::Scratch {
    MergeList merges;
    std::vector<Symbol> symbols;  // by place
};

Result<std::unique_ptr<ByteLevelBpe>> ByteLevelBpe::load(const gguf::Metadata& metadata,
                                                         const Vocabulary& vocabulary,
                                                         const PreTokenizer& rules) {
    HEARTH_TRY(const auto merges, metadata.strings("tokenizer.ggml.merges"));
    auto encoder = std::unique_ptr<ByteLevelBpe>(new ByteLevelBpe(vocabulary, rules));
    encoder->index_tokens();
    HEARTH_TRY_VOID(encoder->load_merges(merges));
    return encoder;
}

void ByteLevelBpe::index_tokens() {
    symbols_.reserve(static_cast<std::size_t>(vocabulary_.size()) + 256);
    // User-defined tokens are found before words are made; they count here only where no ordinary
    // token has the bytes.
    for (const bool user_defined : {false, true}) {
        for (TokenId id = 0; id < vocabulary_.size(); ++id) {
            if ((vocabulary_.kind(id) == TokenKind::user_defined) != user_defined) continue;
            if (!vocabulary_.is_text(id) || vocabulary_.bytes(id).empty()) continue;
            symbols_.try_emplace(vocabulary_.bytes(id), id);
        }
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        byte_symbols_[byte] = intern({&c, 1});
    }
}

ByteLevelBpe::Symbol ByteLevelBpe::intern(std::string_view bytes) {
    if (const auto found = symbols_.find(bytes); found != symbols_.end()) return found->second;
    const Symbol symbol = vocabulary_.size() + static_cast<Symbol>(absent_.size());
    absent_.emplace_back(bytes);
    symbols_.emplace(absent_.back(), symbol);
    return symbol;
}

Result<void> ByteLevelBpe::load_merges(std::span<const std::string> merges) {
    merges_.resize(std::bit_ceil(merges.size() * 2 + 2));
    std::uint32_t rank = 0;
    for (const std::string& line : merges) {
        const std::size_t space = line.find(' ', 1);
        if (space == std::string::npos || space + 1 == line.size()) {
            return Error{ErrorCode::model_invalid,
                         "tokenizer.ggml.merges: entry " + std::to_string(rank) +
                             " is not two pieces with a space between them"};
        }
        const std::string_view view(line);
        const auto left = decode_byte_level(view.substr(0, space));
        const auto right = decode_byte_level(view.substr(space + 1));
        // A piece outside GPT-2's table can never arise from bytes: its merge is without effect.
        if (left && right) {
            const std::uint64_t pair = pack(intern(*left), intern(*right));
            insert_merge({pair, rank, intern(*left + *right)});
        }
        ++rank;
    }
    return {};
}

void ByteLevelBpe::insert_merge(const Merge& merge) {
    const std::size_t mask = merges_.size() - 1;
    std::size_t slot = mix(merge.pair) & mask;
    while (merges_[slot].pair != kNoPair) {
        if (merges_[slot].pair == merge.pair) return;  // the first of equal merges counts
        slot = (slot + 1) & mask;
    }
    merges_[slot] = merge;
}

const ByteLevelBpe::Merge* ByteLevelBpe::find_merge(Symbol left, Symbol right) const {
    const std::uint64_t pair = pack(left, right);
    const std::size_t mask = merges_.size() - 1;
    std::size_t slot = mix(pair) & mask;
    while (merges_[slot].pair != pair) {
        if (merges_[slot].pair == kNoPair) return nullptr;
        slot = (slot + 1) & mask;
    }
    return &merges_[slot];
}

void ByteLevelBpe::encode(std::string_view text, bool /*after_special*/,
                          std::vector<TokenId>& out) const {
    std::vector<std::string_view> words;
    split_words(rules_, text, words);
    Scratch scratch;
    for (const std::string_view word : words) encode_word(word, scratch, out);
}

void ByteLevelBpe::encode_word(std::string_view word, Scratch& scratch,
                               std::vector<TokenId>& out) const {
    if (rules_.whole_words) {
        const auto found = symbols_.find(word);
        if (found != symbols_.end() && found->second < vocabulary_.size()) {
            out.push_back(found->second);
            return;
        }
    }
    auto& symbols = scratch.symbols;
    symbols.clear();
    symbols.reserve(word.size());
    for (const char c : word) symbols.push_back(byte_symbols_[static_cast<unsigned char>(c)]);
    const auto find = [&](std::int32_t left, std::int32_t right) {
        return find_merge(symbols[static_cast<std::size_t>(left)],
                          symbols[static_cast<std::size_t>(right)]);
    };
    scratch.merges.run(
        symbols.size(),
        [&](std::int32_t left, std::int32_t right) {
            const Merge* merge = find(left, right);
            return merge != nullptr ? merge->rank : MergeList::kNoRank;
        },
        [&](std::int32_t left, std::int32_t right) {
            symbols[static_cast<std::size_t>(left)] = find(left, right)->result;
        });
    scratch.merges.each(
        [&](std::int32_t place) { emit(symbols[static_cast<std::size_t>(place)], out); });
}

void ByteLevelBpe::emit(Symbol symbol, std::vector<TokenId>& out) const {
    if (symbol < vocabulary_.size()) {
        out.push_back(symbol);
        return;
    }
    const auto absent = static_cast<std::size_t>(symbol - vocabulary_.size());
    for (const char c : absent_[absent]) {
        const Symbol byte = byte_symbols_[static_cast<unsigned char>(c)];
        // Vocabularies trained on text lack some bytes; like other tokenizers of this family we
        // leave them out.
        if (byte < vocabulary_.size()) out.push_back(byte);
    }
}

}  // namespace hearth::text
