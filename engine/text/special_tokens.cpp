// A byte tree, walked from every place of the text.
#include "engine/text/special_tokens.h"

namespace hearth::text {
namespace {

// Longer pieces are never looked for: it bounds the work per byte of text. The longest in use are
// runs of 31 spaces or line breaks and names of about 40 bytes.
constexpr std::size_t kLongestPiece = 256;

std::uint64_t edge(std::int32_t node, char byte) {
    return std::uint64_t{static_cast<std::uint32_t>(node)} << 8 | static_cast<unsigned char>(byte);
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
    roots_.fill(-1);
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const TokenKind kind = vocabulary.kind(id);
        const bool anywhere = kind == TokenKind::user_defined;
        if (!anywhere && kind != TokenKind::control && kind != TokenKind::unknown) continue;
        const std::string_view piece = vocabulary.piece(id);
        if (!piece.empty() && piece.size() <= kLongestPiece) add(piece, id, anywhere);
    }
}

std::int32_t SpecialTokens::find_child(std::int32_t node, char byte) const {
    const auto found = children_.find(edge(node, byte));
    return found == children_.end() ? -1 : found->second;
}

void SpecialTokens::add(std::string_view piece, TokenId id, bool anywhere) {
    std::int32_t node = -1;
    for (const char byte : piece) {
        const auto next = static_cast<std::int32_t>(nodes_.size());
        std::int32_t& root = roots_[static_cast<unsigned char>(byte)];
        if (node < 0 && root < 0) root = next;
        node = node < 0 ? root : children_.try_emplace(edge(node, byte), next).first->second;
        if (node == next) nodes_.emplace_back();
    }
    Node& last = nodes_[static_cast<std::size_t>(node)];
    if (last.id >= 0) return;  // of equal pieces the lowest id counts
    last.id = id;
    last.anywhere = anywhere;
}

SpecialTokens::Match SpecialTokens::match(const MarkedText& text, std::size_t at) const {
    Match best;
    bool trusted = true;
    std::int32_t node = roots_[static_cast<unsigned char>(text.text[at])];
    for (std::size_t end = at; node >= 0;) {
        trusted = trusted && text.trusted[end] != '\0';
        const Node& reached = nodes_[static_cast<std::size_t>(node)];
        ++end;
        if (reached.id >= 0 && (trusted || reached.anywhere)) best = {reached.id, end - at};
        if (end == text.text.size()) break;
        node = find_child(node, text.text[end]);
    }
    return best;
}

}  // namespace hearth::text
