// What one sequence has computed: the pages of its keys and values, and how many positions of them
// are final.
//
//   reserve(n)   room for n positions after the committed ones; a step may then write there
//   commit(n)    the first n reserved positions are final
//   truncate(p)  forget the committed positions from p on
//   fork()       another sequence with the same committed positions
//
// Only committed positions are ever shared. Full pages are shared and never written again; a
// partial last page that others hold as well is copied before this sequence writes to it, and
// nothing else ever is.
#pragma once

#include <span>
#include <vector>

#include "engine/ops/args.h"
#include "engine/state/pages.h"

namespace hearth::state {

// Copy the keys and values of a whole page, in all layers, before the next step writes.
struct PageCopy {
    PageId from;
    PageId to;
};

class SequenceState {
public:
    // Borrows `pages`, which must outlive the sequence.
    explicit SequenceState(Pages& pages) : pages_(&pages) {}
    SequenceState(SequenceState&& other) noexcept;
    SequenceState& operator=(SequenceState&& other) noexcept;
    ~SequenceState() { clear(); }

    int committed() const { return committed_; }
    int reserved() const { return reserved_; }  // after the committed ones
    // Page of positions 16 i to 16 i + 15; covers committed() + reserved().
    std::span<const PageId> pages() const { return held_; }

    // Free pages that reserve(n) would take; does not change anything.
    int pages_for(int n) const;
    // All or nothing: false when too few pages are free. Replaces an earlier reservation. Appends
    // to `copies` what must be copied before the reserved positions are written.
    bool reserve(int n, std::vector<PageCopy>& copies);
    // n <= reserved(). What was reserved beyond n is given back.
    void commit(int n);
    // Goes back to the nearest legal position at or before `position`, which it returns. For keys
    // and values of every position that is `position` itself, or committed() when that is smaller.
    int truncate(int position);
    SequenceState fork() const;
    // Gives back every page.
    void clear();

private:
    void keep_pages_for(int positions);

    Pages* pages_;  // never null
    std::vector<PageId> held_;
    int committed_ = 0;
    int reserved_ = 0;
};

// Pages that hold `positions` positions.
constexpr int page_count(int positions) {
    return (positions + kPagePositions - 1) / kPagePositions;
}

}  // namespace hearth::state
