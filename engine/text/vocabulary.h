// The tokens of a model file: their text, kind, score and bytes, and which of them have a special
// meaning. Everything is copied out of the metadata and checked; the rest of the folder trusts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/text/tokenizer.h"

namespace hearth::text {

// How a piece stands for bytes.
enum class PieceStyle : std::uint8_t {
    byte_level,      // each character is one byte, by GPT-2's table
    sentence_piece,  // UTF-8 with U+2581 for a space; byte tokens are written <0xNN>
};

struct SpecialIds {
    std::optional<TokenId> bos;
    std::optional<TokenId> eos;
    std::optional<TokenId> eot;
    std::optional<TokenId> eom;
    std::optional<TokenId> unknown;
    std::optional<TokenId> padding;
};

// Not movable: views of the text are handed out and kept.
class Vocabulary {
public:
    Vocabulary() = default;
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    // Errors: model_invalid, naming the key and the token.
    Result<void> load(const gguf::Metadata& metadata, PieceStyle style);

    int size() const { return static_cast<int>(kinds_.size()); }
    std::string_view piece(TokenId id) const { return pieces_.at(id); }
    std::string_view bytes(TokenId id) const { return bytes_.at(id); }
    TokenKind kind(TokenId id) const { return kinds_[static_cast<std::size_t>(id)]; }
    float score(TokenId id) const { return scores_[static_cast<std::size_t>(id)]; }
    bool is_end(TokenId id) const { return ends_[static_cast<std::size_t>(id)]; }
    const SpecialIds& special() const { return special_; }
    // The lowest id with this text.
    std::optional<TokenId> find(std::string_view piece) const;
    // True for tokens that ordinary text may become: normal, user-defined and unused ones.
    bool is_text(TokenId id) const;

private:
    // Strings one after another in one allocation.
    class Strings {
    public:
        void reserve(std::size_t count, std::size_t bytes);
        void add(std::string_view text);
        std::string_view at(TokenId id) const {
            const auto i = static_cast<std::size_t>(id);
            return std::string_view(text_).substr(ends_[i], ends_[i + 1] - ends_[i]);
        }

    private:
        std::string text_;
        std::vector<std::size_t> ends_{0};  // [i + 1] is the end of string i
    };

    Result<void> load_kinds(const gguf::Metadata& metadata);
    Result<void> load_scores(const gguf::Metadata& metadata, PieceStyle style);
    Result<void> load_special(const gguf::Metadata& metadata, PieceStyle style);
    Result<void> make_bytes(PieceStyle style);
    void mark_ends();

    Strings pieces_;
    Strings bytes_;
    std::vector<TokenKind> kinds_;
    std::vector<float> scores_;
    std::vector<bool> ends_;
    SpecialIds special_;
    std::unordered_map<std::string_view, TokenId> by_piece_;
};

// The bytes of a byte-level piece; empty optional when a character is not in GPT-2's table.
std::optional<std::string> decode_byte_level(std::string_view piece);

}  // namespace hearth::text
