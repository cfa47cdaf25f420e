// Reads the keys tokenizer.ggml.* of a GGUF file.
#include "engine/text/vocabulary.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/utf8.h"

namespace hearth::text {
namespace {

// Places in the joined text are 31-bit numbers elsewhere in this folder. Real vocabularies have a
// few MiB.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

// Names under which models of today end a turn. A converter that left one of them an ordinary token
// made a mistake: what a person types must never become it.
constexpr std::array<std::string_view, 14> kEndNames = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<end_of_utterance>",
    "<|END_OF_TURN_TOKEN|>",
    "<|eot|>",
    "<EOT>",
    "[EOT]",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
};

bool is_end_name(std::string_view piece) {
    for (const std::string_view name : kEndNames) {
        if (piece == name) return true;
    }
    return false;
}

// GPT-2 writes each byte as one printable character: those of Latin-1 that are printable stand for
// themselves, the others follow from U+0100 on in ascending order.
constexpr std::size_t kByteCharacters = 0x144;
constexpr auto kByteOfCharacter = [] {
    std::array<std::int16_t, kByteCharacters> table{};
    for (auto& entry : table) entry = -1;
    std::size_t next = 0x100;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        const bool printable =
            (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        table[printable ? byte : next++] = static_cast<std::int16_t>(byte);
    }
    return table;
}();

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// The byte of a piece "<0xNN>"; -1 when it is none.
int parse_byte_piece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return -1;
    const int high = hex_value(piece[3]);
    const int low = hex_value(piece[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::string replace_space_marks(std::string_view piece) {
    std::string text;
    text.reserve(piece.size());
    for (std::size_t at = 0; at < piece.size();) {
        if (piece.substr(at, kSpaceMark.size()) == kSpaceMark) {
            text += ' ';
            at += kSpaceMark.size();
        } else {
            text += piece[at++];
        }
    }
    return text;
}

Error invalid(std::string message) { return {ErrorCode::model_invalid, std::move(message)}; }

std::string count_mismatch(std::string_view key, std::size_t has, std::size_t wants) {
    return std::string(key) + " has " + std::to_string(has) + " entries for " +
           std::to_string(wants) + " tokens; the model file is damaged or badly converted";
}

}  // namespace

std::optional<std::string> decode_byte_level(std::string_view piece) {
    std::string bytes;
    bytes.reserve(piece.size());
    for (std::size_t at = 0; at < piece.size();) {
        const Decoded c = decode_utf8(piece, at);
        if (!c.valid || c.code >= kByteCharacters || kByteOfCharacter[c.code] < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(kByteOfCharacter[c.code]);
        at += c.length;
    }
    return bytes;
}

void Vocabulary::Strings::reserve(std::size_t count, std::size_t bytes) {
    text_.reserve(bytes);
    ends_.reserve(count + 1);
}

void Vocabulary::Strings::add(std::string_view text) {
    text_ += text;
    ends_.push_back(text_.size());
}

Result<void> Vocabulary::load(const gguf::Metadata& metadata, PieceStyle style) {
    HEARTH_TRY(const auto tokens, metadata.strings("tokenizer.ggml.tokens"));
    if (tokens.empty()) return invalid("tokenizer.ggml.tokens is empty: the model has no tokens");
    if (tokens.size() > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
        return invalid("tokenizer.ggml.tokens has more tokens than an id can number");
    }
    std::size_t bytes = 0;
    for (const std::string& token : tokens) bytes += token.size();
    if (bytes > kMostBytes) return invalid("tokenizer.ggml.tokens has over 1 GiB of text");
    pieces_.reserve(tokens.size(), bytes);
    for (const std::string& token : tokens) pieces_.add(token);

    kinds_.assign(tokens.size(), TokenKind::normal);
    HEARTH_TRY_VOID(load_kinds(metadata));
    HEARTH_TRY_VOID(load_scores(metadata, style));
    HEARTH_TRY_VOID(load_special(metadata, style));
    mark_ends();
    bytes_.reserve(tokens.size(), bytes);
    HEARTH_TRY_VOID(make_bytes(style));

    by_piece_.reserve(tokens.size());
    for (TokenId id = 0; id < size(); ++id) by_piece_.try_emplace(piece(id), id);
    return {};
}

Result<void> Vocabulary::load_kinds(const gguf::Metadata& metadata) {
    constexpr std::string_view kKey = "tokenizer.ggml.token_type";
    if (!metadata.has(kKey)) return {};
    HEARTH_TRY(const auto types, metadata.integers(kKey));
    if (types.size() != kinds_.size()) {
        return invalid(count_mismatch(kKey, types.size(), kinds_.size()));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (types[i] < 0 || types[i] > 6) {
            return invalid(std::string(kKey) + " of token " + std::to_string(i) + " is " +
                           std::to_string(types[i]) + "; known are 0 to 6");
        }
        // 0 is "undefined", which the field treats as an ordinary token.
        if (types[i] > 0) kinds_[i] = static_cast<TokenKind>(types[i] - 1);
    }
    return {};
}

Result<void> Vocabulary::load_scores(const gguf::Metadata& metadata, PieceStyle style) {
    constexpr std::string_view kKey = "tokenizer.ggml.scores";
    if (style == PieceStyle::byte_level) return {};  // merges have ranks instead
    HEARTH_TRY(scores_, metadata.numbers(kKey));
    if (scores_.size() != kinds_.size()) {
        return invalid(count_mismatch(kKey, scores_.size(), kinds_.size()));
    }
    for (std::size_t i = 0; i < scores_.size(); ++i) {
        if (!std::isfinite(scores_[i])) {
            return invalid(std::string(kKey) + " of token " + std::to_string(i) +
                           " is not a finite number");
        }
    }
    return {};
}

Result<void> Vocabulary::load_special(const gguf::Metadata& metadata, PieceStyle style) {
    const gguf::IntRange range{0, size() - 1};
    const auto read = [&](std::string_view name, std::optional<TokenId>& id) -> Result<void> {
        const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
        if (!metadata.has(key)) return {};
        HEARTH_TRY(const std::int64_t value, metadata.integer(key, range));
        id = static_cast<TokenId>(value);
        return {};
    };
    if (style == PieceStyle::sentence_piece && size() > 2) {
        // What the LLaMA vocabulary has; files of that family may leave the keys out.
        special_.unknown = 0;
        special_.bos = 1;
        special_.eos = 2;
    }
    HEARTH_TRY_VOID(read("bos", special_.bos));
    HEARTH_TRY_VOID(read("eos", special_.eos));
    HEARTH_TRY_VOID(read("eot", special_.eot));
    HEARTH_TRY_VOID(read("eom", special_.eom));
    HEARTH_TRY_VOID(read("unknown", special_.unknown));
    HEARTH_TRY_VOID(read("padding", special_.padding));
    return {};
}

void Vocabulary::mark_ends() {
    ends_.assign(kinds_.size(), false);
    for (const auto& id : {special_.eos, special_.eot, special_.eom}) {
        if (id) ends_[static_cast<std::size_t>(*id)] = true;
    }
    for (TokenId id = 0; id < size(); ++id) {
        if (!is_end_name(piece(id))) continue;
        ends_[static_cast<std::size_t>(id)] = true;
        kinds_[static_cast<std::size_t>(id)] = TokenKind::control;
        if (!special_.eot && id != special_.eos) special_.eot = id;
    }
}

Result<void> Vocabulary::make_bytes(PieceStyle style) {
    for (TokenId id = 0; id < size(); ++id) {
        const std::string_view text = piece(id);
        switch (kind(id)) {
            case TokenKind::control:
            case TokenKind::unknown:
                bytes_.add({});
                continue;
            case TokenKind::user_defined:
                bytes_.add(text);
                continue;
            case TokenKind::byte:
                if (const int byte = parse_byte_piece(text); byte >= 0) {
                    const char c = static_cast<char>(byte);
                    bytes_.add({&c, 1});
                    continue;
                }
                return invalid("token " + std::to_string(id) +
                               " is a byte token but its text is not of the form <0xNN>");
            case TokenKind::normal:
            case TokenKind::unused:
                break;
        }
        if (style == PieceStyle::sentence_piece) {
            bytes_.add(replace_space_marks(text));
        } else if (const auto decoded = decode_byte_level(text)) {
            bytes_.add(*decoded);
        } else {
            bytes_.add(text);
        }
    }
    return {};
}

std::optional<TokenId> Vocabulary::find(std::string_view piece) const {
    const auto found = by_piece_.find(piece);
    if (found == by_piece_.end()) return std::nullopt;
    return found->second;
}

bool Vocabulary::is_text(TokenId id) const {
    const TokenKind k = kind(id);
    return k == TokenKind::normal || k == TokenKind::user_defined || k == TokenKind::unused;
}

}  // namespace hearth::text
