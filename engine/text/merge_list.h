// The merging at the heart of both tokenizer families: a row of parts, of which neighbours merge,
// lowest rank first, then leftmost. A heap of (rank, place) gives the next merge; entries that a
// later merge made stale are recognised by the rank that the place has since then. n parts take O(n
// log n) time and 20 bytes each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace hearth::text {

class MergeList {
public:
    static constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

    // `rank(left, right)` is the rank of merging the parts at two places, kNoRank when they do not
    // merge. `join(left, right)` makes the part at `left` the merged one; the place `right` is
    // empty from then on.
    template <typename Rank, typename Join>
    void run(std::size_t parts, Rank rank, Join join) {
        start(parts);
        const auto set_rank = [&](std::int32_t place) {
            Link& link = at(place);
            link.rank = link.next < 0 ? kNoRank : rank(place, link.next);
            return link.rank != kNoRank;
        };
        for (std::int32_t place = 0; place < size(); ++place) {
            if (set_rank(place)) heap_.push_back(key(place));
        }
        std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
        while (!heap_.empty()) {
            const std::uint64_t lowest = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
            heap_.pop_back();
            const auto left = static_cast<std::int32_t>(lowest & 0xFFFFFFFFu);
            if (at(left).rank != lowest >> 32) continue;  // stale
            join(left, at(left).next);
            unlink_after(left);
            for (const std::int32_t place : {at(left).previous, left}) {
                if (place >= 0 && set_rank(place)) push(key(place));
            }
        }
    }

    // The places that are left, in order.
    template <typename Sink>
    void each(Sink sink) const {
        for (std::int32_t i = links_.empty() ? -1 : 0; i >= 0;) {
            sink(i);
            i = links_[static_cast<std::size_t>(i)].next;
        }
    }

private:
    struct Link {
        std::int32_t previous;  // -1: none
        std::int32_t next;      // -1: none
        std::uint32_t rank;     // of the merge with the next part
    };
    Link& at(std::int32_t place) { return links_[static_cast<std::size_t>(place)]; }
    std::int32_t size() const { return static_cast<std::int32_t>(links_.size()); }
    std::uint64_t key(std::int32_t place) {
        return std::uint64_t{at(place).rank} << 32 | static_cast<std::uint32_t>(place);
    }
    void start(std::size_t parts) {
        heap_.clear();
        links_.clear();
        links_.reserve(parts);
        for (std::size_t i = 0; i < parts; ++i) {
            const auto place = static_cast<std::int32_t>(i);
            links_.push_back({place - 1, i + 1 < parts ? place + 1 : -1, kNoRank});
        }
    }
    void push(std::uint64_t entry) {
        heap_.push_back(entry);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
    void unlink_after(std::int32_t left) {
        Link& gone = at(at(left).next);
        gone.rank = kNoRank;
        at(left).next = gone.next;
        if (gone.next >= 0) at(gone.next).previous = left;
    }

    std::vector<Link> links_;
    std::vector<std::uint64_t> heap_;
};

}  // namespace hearth::text
