// Which pages of one group are free, and how many sequences hold each of the others. Bookkeeping
// only: it knows no device memory. A page is kPagePositions positions of keys and values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hearth::state {

using PageId = std::int32_t;

// Not thread-safe: one thread owns it and everything that points to it.
class Pages {
public:
    // Pages 0 to total - 1, all free.
    explicit Pages(int total);

    int total() const { return static_cast<int>(references_.size()); }
    int free() const { return static_cast<int>(free_.size()); }

    // A free page, now held once; empty when none is free. The page that was freed last comes
    // first: its memory is already there, and untouched pages stay untouched.
    std::optional<PageId> take();
    // One holder more of a held page.
    void share(PageId page);
    // One holder less; with the last one the page is free.
    void release(PageId page);
    // 0 for a free page.
    int references(PageId page) const;

private:
    std::vector<int> references_;  // [total]
    std::vector<PageId> free_;     // the last one is taken first
};

}  // namespace hearth::state
