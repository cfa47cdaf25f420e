// Text with a trusted flag per byte, stored as runs: text of one origin costs no more than a
// std::string.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::chat {

class MarkedString {
public:
    MarkedString() = default;
    MarkedString(std::string_view bytes, bool trusted) { append(bytes, trusted); }

    std::string_view view() const { return bytes_; }
    std::size_t size() const { return bytes_.size(); }
    bool empty() const { return bytes_.empty(); }
    // The flag of byte `at`, which must be inside.
    bool trusted_at(std::size_t at) const;

    void append(std::string_view bytes, bool trusted);
    void append(const MarkedString& other) { append(other, 0, other.size()); }
    // Bytes [begin, end) of `other` with their flags.
    void append(const MarkedString& other, std::size_t begin, std::size_t end);
    MarkedString slice(std::size_t begin, std::size_t end) const;

    // Calls visit(bytes, trusted) for each run in [begin, end).
    template <typename Visit>
    void for_runs(std::size_t begin, std::size_t end, Visit&& visit) const {
        std::size_t edge = edges_after(begin);
        while (begin < end) {
            const std::size_t stop = edge < edges_.size() ? std::min(edges_[edge], end) : end;
            visit(view().substr(begin, stop - begin), flag_before_edge(edge));
            begin = stop;
            ++edge;
        }
    }

    // Heap memory behind this string.
    std::size_t heap_bytes() const {
        return bytes_.capacity() + edges_.capacity() * sizeof(std::size_t);
    }
    void shrink();
    std::string take_bytes() && { return std::move(bytes_); }

private:
    // Index of the first edge beyond byte `at`.
    std::size_t edges_after(std::size_t at) const;
    bool flag_before_edge(std::size_t edge) const { return first_trusted_ != ((edge & 1) != 0); }

    std::string bytes_;
    std::vector<std::size_t> edges_;  // positions, ascending, where the flag flips
    bool first_trusted_ = false;      // flag of byte 0
};

}  // namespace hearth::chat
