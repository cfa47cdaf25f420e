// The text is one linked list of pieces; a heap of (score, place) gives the next merge.
#include "engine/text/sentence_piece_bpe.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <string>

#include "engine/text/utf8.h"

namespace hearth::text {
namespace {

// Longer tokens are never made from text: it bounds the hashing per merge. The longest in use are
// below 200 bytes.
constexpr std::size_t kLongestPiece = 1024;

struct Candidate {
    float score;
    std::uint32_t size;  // bytes of both pieces together: tells whether the candidate is stale
    std::int32_t left;

    // std::priority_queue gives the greatest first.
    bool operator<(const Candidate& other) const {
        return score != other.score ? score < other.score : left > other.left;
    }
};

std::string mark_spaces(std::string_view text, bool prefix) {
    std::string marked = prefix ? "\xE2\x96\x81" : "";
    marked.reserve(text.size() + text.size() / 2 + 3);
    for (const char c : text) {
        if (c == ' ') {
            marked += "\xE2\x96\x81";
        } else {
            marked += c;
        }
    }
    return marked;
}

}  // namespace

class SentencePieceBpe::Word {
public:
    Word(const SentencePieceBpe& bpe, std::string_view text) : bpe_(bpe), text_(text) {
        pieces_.reserve(text.size());
        for (std::size_t at = 0; at < text.size();) {
            const std::uint32_t length = decode_utf8(text, at).length;
            const auto index = static_cast<std::int32_t>(pieces_.size());
            pieces_.push_back({static_cast<std::uint32_t>(at), length, index - 1, index + 1});
            at += length;
        }
        if (!pieces_.empty()) pieces_.back().next = -1;
    }

    void merge() {
        const auto count = static_cast<std::int32_t>(pieces_.size());
        for (std::int32_t i = 0; i + 1 < count; ++i) consider(i);
        while (!heap_.empty()) {
            const Candidate best = heap_.top();
            heap_.pop();
            Piece& left = at(best.left);
            if (left.length == 0 || left.next < 0) continue;
            Piece& right = at(left.next);
            if (left.length + right.length != best.size) continue;
            left.length += right.length;
            right.length = 0;
            left.next = right.next;
            if (left.next >= 0) at(left.next).previous = best.left;
            if (left.previous >= 0) consider(left.previous);
            consider(best.left);
        }
    }

    template <typename Sink>
    void each_piece(Sink sink) const {
        for (std::int32_t i = pieces_.empty() ? -1 : 0; i >= 0;) {
            const Piece& piece = pieces_[static_cast<std::size_t>(i)];
            sink(text_.substr(piece.start, piece.length));
            i = piece.next;
        }
    }

private:
    struct Piece {
        std::uint32_t start;
        std::uint32_t length;  // 0: merged into its left neighbour
        std::int32_t previous;
        std::int32_t next;
    };
    Piece& at(std::int32_t i) { return pieces_[static_cast<std::size_t>(i)]; }

    // Queues the merge of piece `left` with its right neighbour when a token has that text.
    void consider(std::int32_t left) {
        const Piece& first = at(left);
        if (first.next < 0) return;
        const std::uint32_t size = first.length + at(first.next).length;
        if (size > bpe_.longest_) return;
        const auto found = bpe_.tokens_.find(text_.substr(first.start, size));
        if (found == bpe_.tokens_.end()) return;
        heap_.push({bpe_.vocabulary_.score(found->second), size, left});
    }

    const SentencePieceBpe& bpe_;
    std::string_view text_;
    std::vector<Piece> pieces_;
    std::priority_queue<Candidate> heap_;
};

SentencePieceBpe::SentencePieceBpe(const Vocabulary& vocabulary, bool space_prefix)
    : vocabulary_(vocabulary), space_prefix_(space_prefix) {
    byte_tokens_.fill(-1);
    tokens_.reserve(static_cast<std::size_t>(vocabulary.size()));
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const std::string_view piece = vocabulary.piece(id);
        if (vocabulary.kind(id) == TokenKind::byte) {
            TokenId& slot = byte_tokens_[static_cast<unsigned char>(vocabulary.bytes(id)[0])];
            if (slot < 0) slot = id;
        }
        if (!vocabulary.is_text(id) || piece.empty() || piece.size() > kLongestPiece) continue;
        tokens_.try_emplace(piece, id);
        longest_ = std::max(longest_, piece.size());
    }
}

void SentencePieceBpe::encode(std::string_view text, bool after_special,
                              std::vector<TokenId>& out) const {
    const std::string marked = mark_spaces(text, space_prefix_ && after_special);
    Word word(*this, marked);
    word.merge();
    word.each_piece([&](std::string_view piece) { emit(piece, out); });
}

void SentencePieceBpe::emit(std::string_view piece, std::vector<TokenId>& out) const {
    if (const auto found = tokens_.find(piece); found != tokens_.end()) {
        out.push_back(found->second);
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
