// Parts are spans of the text; two neighbours merge when a token has their joined text.
#include "engine/text/sentence_piece_bpe.h"

#include <algorithm>
#include <optional>
#include <string>

#include "engine/base/utf8.h"
#include "engine/text/merge_list.h"

namespace hearth::text {
namespace {

// Longer tokens are never made from text: it bounds the hashing per merge. The longest in use are
// below 200 bytes.
constexpr std::size_t kLongestPiece = 1024;

std::string mark_spaces(std::string_view text, bool prefix) {
    std::string marked = prefix ? "\xE2\x96\x81" : "";
    const auto spaces = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
    marked.reserve(text.size() + 2 * spaces + 3);
    for (const char c : text) {
        if (c == ' ') {
            marked += "\xE2\x96\x81";
        } else {
            marked += c;
        }
    }
    return marked;
}

struct Span {
    std::uint32_t start;
    std::uint32_t length;
};

// One span for each character.
std::vector<Span> characters_of(std::string_view text) {
    std::vector<Span> spans;
    const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    spans.reserve(static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_first)));
    for (std::size_t at = 0; at < text.size();) {
        const std::uint32_t length = decode_utf8(text, at).length;
        spans.push_back({static_cast<std::uint32_t>(at), length});
        at += length;
    }
    return spans;
}

}  // namespace

SentencePieceBpe::SentencePieceBpe(const Vocabulary& vocabulary, bool space_prefix)
    : vocabulary_(vocabulary), space_prefix_(space_prefix) {
    byte_tokens_.fill(-1);
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        if (vocabulary.kind(id) != TokenKind::byte) continue;
        TokenId& slot = byte_tokens_[static_cast<unsigned char>(vocabulary.bytes(id)[0])];
        if (slot < 0) slot = id;
    }
    index_tokens();
}

void SentencePieceBpe::index_tokens() {
    std::vector<TokenId> by_score;
    tokens_.reserve(static_cast<std::size_t>(vocabulary_.size()));
    for (TokenId id = 0; id < vocabulary_.size(); ++id) {
        const std::string_view piece = vocabulary_.piece(id);
        if (!vocabulary_.is_text(id) || piece.empty() || piece.size() > kLongestPiece) continue;
        if (!tokens_.try_emplace(piece, Token{id, 0}).second) continue;
        by_score.push_back(id);
        longest_ = std::max(longest_, piece.size());
    }
    const auto score = [this](TokenId id) { return vocabulary_.score(id); };
    std::sort(by_score.begin(), by_score.end(),
              [&](TokenId a, TokenId b) { return score(a) > score(b); });
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < by_score.size(); ++i) {
        if (i > 0 && score(by_score[i]) < score(by_score[i - 1])) ++rank;
        tokens_.find(vocabulary_.piece(by_score[i]))->second.rank = rank;
    }
}

void SentencePieceBpe::encode(std::string_view text, bool after_special,
                              std::vector<TokenId>& out) const {
    const std::string marked = mark_spaces(text, space_prefix_ && after_special);
    const std::string_view view(marked);
    std::vector<Span> spans = characters_of(view);
    const auto span = [&](std::int32_t place) -> Span& {
        return spans[static_cast<std::size_t>(place)];
    };
    MergeList merges;
    merges.run(
        spans.size(),
        [&](std::int32_t left, std::int32_t right) {
            const std::uint32_t length = span(left).length + span(right).length;
            if (length > longest_) return MergeList::kNoRank;
            const auto found = tokens_.find(view.substr(span(left).start, length));
            return found == tokens_.end() ? MergeList::kNoRank : found->second.rank;
        },
        [&](std::int32_t left, std::int32_t right) { span(left).length += span(right).length; });
    merges.each(
        [&](std::int32_t place) { emit(view.substr(span(place).start, span(place).length), out); });
}

void SentencePieceBpe::emit(std::string_view piece, std::vector<TokenId>& out) const {
    if (const auto found = tokens_.find(piece); found != tokens_.end()) {
        out.push_back(found->second.id);
        return;
    }
    const std::optional<TokenId> unknown = vocabulary_.special().unknown;
    const bool has_unknown = unknown && vocabulary_.kind(*unknown) == TokenKind::unknown;
    for (const char c : piece) {
        const TokenId byte = byte_tokens_[static_cast<unsigned char>(c)];
        if (byte >= 0) {
            out.push_back(byte);
        } else if (has_unknown) {
            out.push_back(*unknown);
            return;
        }
    }
}

}  // namespace hearth::text
