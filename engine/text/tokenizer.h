// Text to token ids and back to bytes, with the vocabulary of a GGUF file. Immutable after load:
// threads may share it.
//
// Families: byte-level BPE (tokenizer.ggml.model "gpt2") with the pre-tokenizers of
// pre_tokenizer.h, and SentencePiece-style BPE ("llama"). Encoding takes O(n log n) time and O(n)
// memory of the heap for n bytes of text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/marked_text.h"
#include "engine/base/result.h"
#include "engine/gguf/metadata.h"

namespace hearth::text {

using TokenId = std::int32_t;

// In the order of tokenizer.ggml.token_type, whose numbers begin with 1.
enum class TokenKind : std::uint8_t { normal, unknown, control, user_defined, unused, byte };

struct EncodeOptions {
    bool add_bos = false;        // see encode()
    bool parse_special = false;  // the whole text is trusted: control tokens are recognised in it
};

class Tokenizer {
public:
    // Errors: unsupported_model names the tokenizer model or pre-tokenizer that we do not have;
    // model_invalid for contradictions (arrays of different length, special ids out of range,
    // scores that are no numbers, …).
    static Result<Tokenizer> load(const gguf::Metadata& metadata);

    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    int size() const;  // tokens in the vocabulary; valid ids are 0 to size() - 1

    // Control tokens are recognised only where all their bytes are trusted; user-defined tokens
    // anywhere. With `add_bos`, the begin token comes first when the vocabulary has one and the
    // text does not begin with it already; whether the model wants it is adds_bos(). A byte that
    // the vocabulary has no token for is left out in byte-level vocabularies (SmolLM2 lacks a few
    // control characters) and becomes the unknown token in SentencePiece-style ones, as with other
    // tokenizers of these families.
    // Errors: invalid_utf8 (with the byte offset), too_large (over 512 MiB).
    Result<std::vector<TokenId>> encode(const MarkedText& text, bool add_bos) const;
    Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options) const;

    // For all of these, `id` must be in [0, size()).
    std::string_view bytes(
        TokenId id) const;  // what the token stands for; may be part of a character; "" for control
    std::string_view piece(TokenId id) const;  // as in the vocabulary
    TokenKind kind(TokenId id) const;
    // Ends a generation: eos, eot, eom, and control tokens with the well-known names of end-of-turn
    // marks.
    bool is_end(TokenId id) const;

    std::optional<TokenId> bos() const;
    std::optional<TokenId> eos() const;
    std::optional<TokenId> eot() const;
    std::optional<TokenId> unknown() const;
    std::optional<TokenId> padding() const;
    std::optional<TokenId> find(std::string_view piece) const;  // by its text in the vocabulary
    bool adds_bos() const;           // tokenizer.ggml.add_bos_token, or the family's default
    bool adds_space_prefix() const;  // a space is put before the text (SentencePiece-style only)
    std::string_view pre_tokenizer() const;  // its name in the file, "" for SentencePiece-style

private:
    struct Parts;
    explicit Tokenizer(std::unique_ptr<const Parts> parts);

    std::unique_ptr<const Parts> parts_;
};

}  // namespace hearth::text
