// Page bookkeeping; every misuse is a bug of ours and ends the process.
#include "engine/state/pages.h"

#include "engine/base/check.h"

namespace hearth::state {

Pages::Pages(int total) : references_(static_cast<std::size_t>(total), 0) {
    HEARTH_CHECK(total >= 0);
    free_.reserve(references_.size());
    for (PageId page = total; page-- > 0;) free_.push_back(page);
}

std::optional<PageId> Pages::take() {
    if (free_.empty()) return std::nullopt;
    const PageId page = free_.back();
    free_.pop_back();
    references_[static_cast<std::size_t>(page)] = 1;
    return page;
}

void Pages::share(PageId page) {
    HEARTH_CHECK(references(page) > 0);
    ++references_[static_cast<std::size_t>(page)];
}

void Pages::release(PageId page) {
    HEARTH_CHECK(references(page) > 0);
    if (--references_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

int Pages::references(PageId page) const {
    HEARTH_CHECK(page >= 0 && page < total());
    return references_[static_cast<std::size_t>(page)];
}

}  // namespace hearth::state
