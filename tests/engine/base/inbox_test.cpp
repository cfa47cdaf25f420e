// The inbox is bounded, closable, and loses nothing.
#include "engine/base/inbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace hearth {
namespace {

TEST(Inbox, GivesBackEverythingInOrder) {
    Inbox<std::string> inbox(3);
    EXPECT_TRUE(inbox.put("a"));
    EXPECT_TRUE(inbox.put("b"));
    EXPECT_EQ(inbox.take_all(false), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(inbox.take_all(false).empty());
}

TEST(Inbox, FullIsAnAnswerAndLeavesTheItemAlone) {
    Inbox<std::unique_ptr<int>> inbox(1);
    EXPECT_TRUE(inbox.put(std::make_unique<int>(1)));
    auto second = std::make_unique<int>(2);
    EXPECT_FALSE(inbox.put(std::move(second)));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(inbox.take_all(false).size(), 1U);
    EXPECT_TRUE(inbox.put(std::move(second)));
}

TEST(Inbox, ClosedTakesNothingMoreButGivesWhatItHas) {
    Inbox<int> inbox(4);
    EXPECT_TRUE(inbox.put(1));
    EXPECT_FALSE(inbox.closed());
    inbox.close();
    EXPECT_TRUE(inbox.closed());
    EXPECT_FALSE(inbox.put(2));
    EXPECT_EQ(inbox.take_all(true), std::vector<int>{1});
    EXPECT_TRUE(inbox.take_all(true).empty());
}

TEST(Inbox, CloseWakesAWaiter) {
    Inbox<int> inbox(1);
    std::thread waiter([&] { EXPECT_TRUE(inbox.take_all(true).empty()); });
    inbox.close();
    waiter.join();
}

TEST(Inbox, ManyWritersLoseNothing) {
    constexpr int kWriters = 4;
    constexpr int kEach = 2000;
    Inbox<int> inbox(16);
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w)
        writers.emplace_back([&inbox, w] {
            for (int i = 0; i < kEach; ++i)
                while (!inbox.put(w * kEach + i)) std::this_thread::yield();
        });
    std::vector<int> last(kWriters, -1);
    int taken = 0;
    while (taken < kWriters * kEach) {
        for (const int item : inbox.take_all(true)) {
            int& previous = last[static_cast<std::size_t>(item / kEach)];
            EXPECT_EQ(item % kEach, previous + 1);  // each writer's items stay in order
            previous = item % kEach;
            ++taken;
        }
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_TRUE(inbox.take_all(false).empty());
}

}  // namespace
}  // namespace hearth
