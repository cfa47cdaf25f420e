// The pool of threads: every share is done once, regions and barriers order what threads write.
#include "engine/base/thread_pool.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace hearth {
namespace {

constexpr int kThreadCounts[] = {1, 2, 3, 8};

TEST(ThreadPool, RunsTheBodyOncePerThread) {
    for (const int threads : kThreadCounts) {
        ThreadPool pool(threads);
        std::vector<int> calls(static_cast<std::size_t>(threads), 0);
        pool.run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
        EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(threads), 1));
    }
}

TEST(ThreadPool, SharesCoverEverythingOnceInOrder) {
    for (const int threads : kThreadCounts) {
        const ThreadPool pool(threads);
        for (const int count : {0, 1, 2, 7, 8, 1000003}) {
            int next = 0;
            for (int thread = 0; thread < threads; ++thread) {
                const ThreadPool::Range range = pool.share(count, thread);
                EXPECT_EQ(range.first, next);
                EXPECT_LE(range.first, range.last);
                EXPECT_LE(range.last - range.first, count / threads + 1);
                next = range.last;
            }
            EXPECT_EQ(next, count);
        }
    }
}

TEST(ThreadPool, ParallelForTouchesEachIndexOnce) {
    ThreadPool pool(3);
    for (const int count : {0, 1, 2, 3, 1000}) {
        std::vector<int> touched(static_cast<std::size_t>(count), 0);
        pool.parallel_for(count, [&](int first, int last) {
            for (int i = first; i < last; ++i) ++touched[static_cast<std::size_t>(i)];
        });
        EXPECT_EQ(touched, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
}

TEST(ThreadPool, ARegionSeesWhatTheOneBeforeWrote) {
    ThreadPool pool(4);
    std::vector<int> values(4, 0);
    for (int round = 0; round < 2000; ++round)
        pool.run([&](int thread) {
            // Another thread's number of the last round.
            const auto mine = static_cast<std::size_t>(thread);
            if (round % 2 == 0)
                values[mine] = round;
            else
                EXPECT_EQ(values[(mine + 1) % 4], round - 1);
        });
}

TEST(ThreadPool, ABarrierSeparatesWhatThreadsWriteAndRead) {
    ThreadPool pool(4);
    std::vector<int> values(4, 0);
    pool.run([&](int thread) {
        const auto mine = static_cast<std::size_t>(thread);
        for (int round = 1; round < 500; ++round) {
            values[mine] = round;
            pool.barrier(thread);
            for (const int value : values) EXPECT_EQ(value, round);
            pool.barrier(thread);
        }
    });
}

TEST(ThreadPool, EndsWithoutEverHavingRun) {
    for (const int threads : kThreadCounts) {
        const ThreadPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
    }
}

TEST(ThreadPool, FewerThanOneThreadIsOne) { EXPECT_EQ(ThreadPool(0).threads(), 1); }

TEST(UsableCores, AreAtLeastOneAndAtMostWhatTheSystemHas) {
    EXPECT_GE(usable_cores(), 1);
    EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace hearth
