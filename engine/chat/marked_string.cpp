// Runs are kept by the positions at which the flag flips; see marked_string.h.
#include "engine/chat/marked_string.h"

namespace hearth::chat {

std::size_t MarkedString::edges_after(std::size_t at) const {
    if (edges_.empty()) return 0;
    const auto found = std::upper_bound(edges_.begin(), edges_.end(), at);
    return static_cast<std::size_t>(found - edges_.begin());
}

bool MarkedString::trusted_at(std::size_t at) const { return flag_before_edge(edges_after(at)); }

void MarkedString::append(std::string_view bytes, bool trusted) {
    if (bytes.empty()) return;
    if (bytes_.empty()) {
        first_trusted_ = trusted;
    } else if (flag_before_edge(edges_.size()) != trusted) {
        edges_.push_back(bytes_.size());
    }
    bytes_.append(bytes);
}

void MarkedString::append(const MarkedString& other, std::size_t begin, std::size_t end) {
    other.for_runs(begin, end,
                   [this](std::string_view bytes, bool trusted) { append(bytes, trusted); });
}

MarkedString MarkedString::slice(std::size_t begin, std::size_t end) const {
    MarkedString part;
    part.append(*this, begin, end);
    return part;
}

void MarkedString::shrink() {
    // Half of a large buffer unused is worth a copy; less is not.
    if (bytes_.capacity() > 4096 && bytes_.capacity() / 2 > bytes_.size()) bytes_.shrink_to_fit();
    if (edges_.capacity() > 512 && edges_.capacity() / 2 > edges_.size()) edges_.shrink_to_fit();
}

}  // namespace hearth::chat
