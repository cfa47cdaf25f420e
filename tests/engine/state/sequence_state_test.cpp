// Sequences in pages: stories first, then random operations against a plain model in which every
// sequence is a list of numbers. In the random test each page is an array of the numbers written to
// it, so that sharing, copying and reuse go wrong visibly.
#include "engine/state/sequence_state.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <utility>

namespace hearth::state {
namespace {

bool reserve(SequenceState& sequence, int n) {
    std::vector<PageCopy> copies;
    const bool ok = sequence.reserve(n, copies);
    EXPECT_TRUE(copies.empty());
    return ok;
}

TEST(Pages, AreTakenAndGivenBack) {
    Pages pages(2);
    const PageId first = *pages.take();
    const PageId second = *pages.take();
    EXPECT_NE(first, second);
    EXPECT_FALSE(pages.take().has_value());
    pages.share(first);
    pages.release(first);
    EXPECT_EQ(pages.free(), 0);
    pages.release(first);
    EXPECT_EQ(pages.free(), 1);
    EXPECT_EQ(pages.take(), first);
}

TEST(SequenceState, TakesAPageForEverySixteenPositions) {
    Pages pages(4);
    SequenceState sequence(pages);
    ASSERT_TRUE(reserve(sequence, 16));
    EXPECT_EQ(pages.free(), 3);
    sequence.commit(16);
    EXPECT_EQ(sequence.pages_for(1), 1);
    ASSERT_TRUE(reserve(sequence, 1));
    EXPECT_EQ(pages.free(), 2);
    sequence.commit(1);
    EXPECT_EQ(sequence.pages_for(15), 0);
    EXPECT_EQ(sequence.committed(), 17);
}

TEST(SequenceState, AReservationThatDoesNotFitTakesNothing) {
    Pages pages(2);
    SequenceState sequence(pages);
    EXPECT_FALSE(reserve(sequence, 33));
    EXPECT_EQ(pages.free(), 2);
    EXPECT_EQ(sequence.reserved(), 0);
}

TEST(SequenceState, PagesOfRejectedDraftsAreGivenBackOnCommit) {
    Pages pages(4);
    SequenceState sequence(pages);
    ASSERT_TRUE(reserve(sequence, 40));
    sequence.commit(3);
    EXPECT_EQ(pages.free(), 3);
    EXPECT_EQ(sequence.reserved(), 0);
}

TEST(SequenceState, GivesEverythingBackWhenItEnds) {
    Pages pages(3);
    {
        SequenceState sequence(pages);
        ASSERT_TRUE(reserve(sequence, 20));
        sequence.commit(20);
        SequenceState moved = std::move(sequence);
        EXPECT_EQ(moved.committed(), 20);
    }
    EXPECT_EQ(pages.free(), 3);
}

TEST(SequenceState, ForkSharesEveryPageAndTheFirstWriterCopiesThePartialTail) {
    Pages pages(6);
    SequenceState parent(pages);
    ASSERT_TRUE(reserve(parent, 20));
    parent.commit(20);
    SequenceState child = parent.fork();
    EXPECT_EQ(pages.free(), 4);
    EXPECT_EQ(child.pages_for(1), 1);

    std::vector<PageCopy> copies;
    ASSERT_TRUE(child.reserve(1, copies));
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].from, parent.pages()[1]);
    EXPECT_EQ(copies[0].to, child.pages()[1]);
    EXPECT_EQ(child.pages()[0], parent.pages()[0]);
    EXPECT_TRUE(reserve(parent, 1));  // alone with its tail again
}

TEST(SequenceState, ForkOnAPageBorderCopiesNothing) {
    Pages pages(4);
    SequenceState parent(pages);
    ASSERT_TRUE(reserve(parent, 16));
    parent.commit(16);
    SequenceState child = parent.fork();
    EXPECT_TRUE(reserve(child, 1));
    EXPECT_TRUE(reserve(parent, 1));
}

TEST(SequenceState, ForkHoldsCommittedPositionsOnly) {
    Pages pages(4);
    SequenceState parent(pages);
    ASSERT_TRUE(reserve(parent, 30));
    const SequenceState child = parent.fork();
    EXPECT_EQ(child.committed(), 0);
    EXPECT_TRUE(child.pages().empty());
}

TEST(SequenceState, TruncateReturnsWhereItStands) {
    Pages pages(4);
    SequenceState sequence(pages);
    ASSERT_TRUE(reserve(sequence, 40));
    sequence.commit(40);
    EXPECT_EQ(sequence.truncate(50), 40);
    EXPECT_EQ(sequence.truncate(17), 17);
    EXPECT_EQ(pages.free(), 2);
    EXPECT_EQ(sequence.truncate(0), 0);
    EXPECT_EQ(pages.free(), 4);
}

// Real sequences beside their plain models.
class Fuzzer {
public:
    explicit Fuzzer(std::uint32_t seed) : random_(seed) {}

    void run(int operations) {
        for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) {
            one_operation();
            check();
        }
        live_.clear();
        EXPECT_EQ(pages_.free(), pages_.total());
    }

private:
    struct Live {
        SequenceState state;
        std::vector<int> plain;  // what position i holds
    };

    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }

    void one_operation() {
        const int kind = live_.empty() ? 0 : below(10);
        if (kind == 0 && live_.size() < 8) {
            live_.push_back({SequenceState(pages_), {}});
            return;
        }
        const auto index = static_cast<std::size_t>(below(static_cast<int>(live_.size())));
        if (kind <= 5) return append(live_[index]);
        if (kind == 6) {
            const int position = below(static_cast<int>(live_[index].plain.size()) + 3);
            const int at = live_[index].state.truncate(position);
            EXPECT_EQ(at, std::min(position, static_cast<int>(live_[index].plain.size())));
            live_[index].plain.resize(static_cast<std::size_t>(at));
        } else if (kind == 7 && live_.size() < 8) {
            live_.push_back({live_[index].state.fork(), live_[index].plain});
        } else if (kind == 8) {
            live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
        } else {
            live_[index].state.clear();
            live_[index].plain.clear();
        }
    }

    // Writes n positions and commits some of them, as a step with draft tokens does.
    void append(Live& live) {
        const int n = below(40);
        std::vector<PageCopy> copies;
        const int wanted = live.state.pages_for(n);
        const int free = pages_.free();
        const bool fits = live.state.reserve(n, copies);
        EXPECT_EQ(fits, wanted <= free);
        if (!fits) {
            EXPECT_EQ(pages_.free(), free);
            return;
        }
        EXPECT_EQ(pages_.free(), free - wanted);
        for (const PageCopy& copy : copies)
            memory_[static_cast<std::size_t>(copy.to)] =
                memory_[static_cast<std::size_t>(copy.from)];
        const int first = live.state.committed();
        const int committed = below(n + 1);
        for (int i = 0; i < n; ++i) {
            const int value = next_value_++;
            slot(live.state, first + i) = value;
            if (i < committed) live.plain.push_back(value);
        }
        live.state.commit(committed);
    }

    int& slot(const SequenceState& state, int position) {
        const PageId page = state.pages()[static_cast<std::size_t>(position / kPagePositions)];
        return memory_[static_cast<std::size_t>(page)]
                      [static_cast<std::size_t>(position % kPagePositions)];
    }

    void check() {
        std::map<PageId, int> holders;
        for (const Live& live : live_) {
            ASSERT_EQ(live.state.committed(), static_cast<int>(live.plain.size()));
            ASSERT_EQ(static_cast<int>(live.state.pages().size()),
                      page_count(live.state.committed()));
            for (int i = 0; i < live.state.committed(); ++i)
                ASSERT_EQ(slot(live.state, i), live.plain[static_cast<std::size_t>(i)]);
            for (const PageId page : live.state.pages()) ++holders[page];
        }
        for (PageId page = 0; page < pages_.total(); ++page)
            ASSERT_EQ(pages_.references(page), holders.contains(page) ? holders[page] : 0);
        ASSERT_EQ(pages_.free() + static_cast<int>(holders.size()), pages_.total());
    }

    std::mt19937 random_;
    Pages pages_{24};
    std::array<std::array<int, kPagePositions>, 24> memory_{};
    std::vector<Live> live_;
    int next_value_ = 1;
};

TEST(SequenceState, RandomOperationsAgreeWithPlainLists) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Fuzzer(seed).run(300);
    }
}

}  // namespace
}  // namespace hearth::state
