// Joins vocabulary, special tokens and the encoder of the family.
#include "engine/text/tokenizer.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/gguf/text.h"
#include "engine/text/byte_level_bpe.h"
#include "engine/text/sentence_piece_bpe.h"
#include "engine/text/special_tokens.h"
#include "engine/text/text_encoder.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {
namespace {

// Places in a text are 31-bit numbers, and marking spaces makes it up to three times as long.
constexpr std::size_t kLongestText = 512 * kMiB;

}  // namespace

struct Tokenizer::Parts {
    Vocabulary vocabulary;
    std::unique_ptr<const SpecialTokens> special;
    std::unique_ptr<const TextEncoder> encoder;
    std::string pre_tokenizer;
    bool adds_bos = false;
    bool adds_space_prefix = false;
};

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(const gguf::Metadata& metadata) {
    HEARTH_TRY(const std::string_view model, metadata.string("tokenizer.ggml.model"));
    auto parts = std::make_unique<Parts>();
    if (model == "gpt2") {
        HEARTH_TRY(const std::string_view name,
                   metadata.string_or("tokenizer.ggml.pre", "default"));
        const auto rules = find_pre_tokenizer(name);
        if (!rules) {
            return Error{ErrorCode::unsupported_model,
                         "the model's pre-tokenizer " + gguf::quoted(name) +
                             " is not supported; supported are " + pre_tokenizer_names()};
        }
        parts->pre_tokenizer = name;
        HEARTH_TRY_VOID(parts->vocabulary.load(metadata, PieceStyle::byte_level));
        HEARTH_TRY(parts->encoder, ByteLevelBpe::load(metadata, parts->vocabulary, *rules));
        parts->adds_bos = rules->adds_bos;
    } else if (model == "llama") {
        HEARTH_TRY_VOID(parts->vocabulary.load(metadata, PieceStyle::sentence_piece));
        HEARTH_TRY(parts->adds_space_prefix,
                   metadata.boolean_or("tokenizer.ggml.add_space_prefix", true));
        parts->encoder =
            std::make_unique<SentencePieceBpe>(parts->vocabulary, parts->adds_space_prefix);
        parts->adds_bos = true;
    } else {
        return Error{ErrorCode::unsupported_model,
                     "the model's tokenizer " + gguf::quoted(model) +
                         " is not supported; supported are gpt2 and llama"};
    }
    HEARTH_TRY(parts->adds_bos,
               metadata.boolean_or("tokenizer.ggml.add_bos_token", parts->adds_bos));
    parts->adds_bos = parts->adds_bos && parts->vocabulary.special().bos.has_value();
    parts->special = std::make_unique<SpecialTokens>(parts->vocabulary);
    return Tokenizer(std::move(parts));
}

Result<std::vector<TokenId>> Tokenizer::encode(const MarkedText& text, bool add_bos) const {
    HEARTH_CHECK(text.trusted.size() == text.text.size());
    if (text.text.size() > kLongestText) {
        return Error{ErrorCode::too_large, "a text of " + std::to_string(text.text.size()) +
                                               " bytes is too long to tokenize; the limit is " +
                                               std::to_string(kLongestText)};
    }
    if (const auto error = find_utf8_error(text.text)) {
        return Error{ErrorCode::invalid_utf8,
                     "the text is not valid UTF-8 at byte " + std::to_string(*error)};
    }
    std::vector<TokenId> ids;
    const std::string_view all(text.text);
    std::size_t start = 0;  // of the plain text that is not encoded yet
    bool after_special = true;
    for (std::size_t at = 0; at < all.size();) {
        const SpecialTokens::Match match = parts_->special->match(text, at);
        if (match.id < 0) {
            ++at;
            continue;
        }
        if (at > start) parts_->encoder->encode(all.substr(start, at - start), after_special, ids);
        ids.push_back(match.id);
        after_special = true;
        at += match.length;
        start = at;
    }
    if (start < all.size()) parts_->encoder->encode(all.substr(start), after_special, ids);

    const std::optional<TokenId> begin = bos();
    if (add_bos && begin && (ids.empty() || ids.front() != *begin)) ids.insert(ids.begin(), *begin);
    return ids;
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
    return encode(MarkedText::all(text, options.parse_special), options.add_bos);
}

int Tokenizer::size() const { return parts_->vocabulary.size(); }
std::string_view Tokenizer::bytes(TokenId id) const { return parts_->vocabulary.bytes(id); }
std::string_view Tokenizer::piece(TokenId id) const { return parts_->vocabulary.piece(id); }
TokenKind Tokenizer::kind(TokenId id) const { return parts_->vocabulary.kind(id); }
bool Tokenizer::is_end(TokenId id) const { return parts_->vocabulary.is_end(id); }
std::optional<TokenId> Tokenizer::bos() const { return parts_->vocabulary.special().bos; }
std::optional<TokenId> Tokenizer::eos() const { return parts_->vocabulary.special().eos; }
std::optional<TokenId> Tokenizer::eot() const { return parts_->vocabulary.special().eot; }
std::optional<TokenId> Tokenizer::unknown() const { return parts_->vocabulary.special().unknown; }
std::optional<TokenId> Tokenizer::padding() const { return parts_->vocabulary.special().padding; }
bool Tokenizer::adds_bos() const { return parts_->adds_bos; }
bool Tokenizer::adds_space_prefix() const { return parts_->adds_space_prefix; }
std::string_view Tokenizer::pre_tokenizer() const { return parts_->pre_tokenizer; }
std::optional<TokenId> Tokenizer::find(std::string_view piece) const {
    return parts_->vocabulary.find(piece);
}

}  // namespace hearth::text
