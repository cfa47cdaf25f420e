// The page table of one sequence. Each held page counts once in Pages.
#include "engine/state/sequence_state.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace hearth::state {

SequenceState::SequenceState(SequenceState&& other) noexcept
    : pages_(other.pages_),
      held_(std::exchange(other.held_, {})),
      committed_(std::exchange(other.committed_, 0)),
      reserved_(std::exchange(other.reserved_, 0)) {}

SequenceState& SequenceState::operator=(SequenceState&& other) noexcept {
    if (this == &other) return *this;
    clear();
    pages_ = other.pages_;
    held_ = std::exchange(other.held_, {});
    committed_ = std::exchange(other.committed_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    return *this;
}

namespace {
// True when the next position to be written lies in a page that somebody else reads.
bool tail_is_shared(const Pages& pages, std::span<const PageId> held, int committed) {
    if (committed % kPagePositions == 0) return false;
    return pages.references(held[static_cast<std::size_t>(committed / kPagePositions)]) > 1;
}
}  // namespace

int SequenceState::pages_for(int n) const {
    if (n == 0) return 0;
    const int more = page_count(committed_ + n) - static_cast<int>(held_.size());
    return std::max(more, 0) + (tail_is_shared(*pages_, held_, committed_) ? 1 : 0);
}

bool SequenceState::reserve(int n, std::vector<PageCopy>& copies) {
    HEARTH_CHECK(n >= 0);
    keep_pages_for(committed_);
    reserved_ = 0;
    if (pages_for(n) > pages_->free()) return false;
    if (n > 0 && tail_is_shared(*pages_, held_, committed_)) {
        const PageId own = *pages_->take();
        const PageId shared = std::exchange(held_.back(), own);
        pages_->release(shared);
        copies.push_back({.from = shared, .to = own});
    }
    while (static_cast<int>(held_.size()) < page_count(committed_ + n))
        held_.push_back(*pages_->take());
    reserved_ = n;
    return true;
}

void SequenceState::commit(int n) {
    HEARTH_CHECK(n >= 0 && n <= reserved_);
    committed_ += n;
    reserved_ = 0;
    keep_pages_for(committed_);
}

int SequenceState::truncate(int position) {
    HEARTH_CHECK(position >= 0);
    committed_ = std::min(position, committed_);
    reserved_ = 0;
    keep_pages_for(committed_);
    return committed_;
}

SequenceState SequenceState::fork() const {
    SequenceState child(*pages_);
    const auto shared = static_cast<std::size_t>(page_count(committed_));
    child.held_.assign(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(shared));
    for (const PageId page : child.held_) pages_->share(page);
    child.committed_ = committed_;
    return child;
}

void SequenceState::clear() {
    committed_ = 0;
    reserved_ = 0;
    keep_pages_for(0);
}

void SequenceState::keep_pages_for(int positions) {
    const auto needed = static_cast<std::size_t>(page_count(positions));
    while (held_.size() > needed) {
        pages_->release(held_.back());
        held_.pop_back();
    }
}

}  // namespace hearth::state
