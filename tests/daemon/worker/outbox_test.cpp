// The outbox: order, credit, what happens to those who do not read, and that nobody waits for them.
#include "daemon/worker/outbox.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

using namespace hearth;
using namespace hearth::worker;

namespace {

// Takes what the writer sends, and lets a test wait for so many messages.
class Wire {
public:
    Outbox::Send sink() {
        return [this](std::uint64_t request, const wire::FromWorker& message) {
            const std::lock_guard lock(mutex_);
            messages_.emplace_back(request, message);
            arrived_.notify_all();
            return true;
        };
    }
    std::vector<std::pair<std::uint64_t, wire::FromWorker>> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(arrived_.wait_for(lock, std::chrono::seconds(20),
                                      [&] { return messages_.size() >= count; }));
        return messages_;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::pair<std::uint64_t, wire::FromWorker>> messages_;
};

Delta token(std::int32_t id, const std::string& text) {
    Delta delta;
    delta.text = text;
    delta.tokens.push_back({.id = id, .logprob = 0.0F, .bytes = "", .top = {}});
    return delta;
}
Done done() { return {.reason = FinishReason::length, .stop_string = "", .timings = {}}; }

TEST(Outbox, EventsArriveInOrderAndNumbered) {
    Wire wire;
    Outbox outbox(wire.sink());
    outbox.open(1, 10, -1);
    outbox.on_event(1, Accepted{{5, 6}});
    outbox.on_event(1, token(7, "a"));
    outbox.on_event(1, token(8, "b"));
    outbox.on_event(1, done());
    const auto messages = wire.wait_for(4);
    EXPECT_EQ(std::get<wire::Accepted>(messages[0].second).prompt_tokens, 2);
    EXPECT_EQ(std::get<wire::Delta>(messages[1].second).number, 0U);
    EXPECT_EQ(std::get<wire::Delta>(messages[2].second).number, 1U);
    EXPECT_EQ(std::get<wire::Delta>(messages[2].second).text, "b");
    EXPECT_EQ(std::get<wire::Done>(messages[3].second).reason, wire::FinishReason::length);
    EXPECT_FALSE(outbox.is_open(1));
}

TEST(Outbox, WithoutCreditDeltasGatherAndTheEndWaitsWhileOthersGoOn) {
    Wire wire;
    Outbox outbox(wire.sink());
    outbox.open(1, 1, -1);
    outbox.open(2, 9, -1);
    for (const char* text : {"a", "b", "c", "d"}) outbox.on_event(1, token(1, text));
    outbox.on_event(1, done());
    outbox.on_event(2, token(1, "x"));
    auto messages = wire.wait_for(2);
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_EQ(std::get<wire::Delta>(messages[0].second).text, "a");
    EXPECT_EQ(messages[1].first, 2U);
    outbox.add_credit(1, 1);
    messages = wire.wait_for(4);
    EXPECT_EQ(std::get<wire::Delta>(messages[2].second).text, "bcd");
    EXPECT_EQ(std::get<wire::Delta>(messages[2].second).ids.size(), 3U);
    EXPECT_EQ(std::get<wire::Delta>(messages[2].second).number, 1U);
    EXPECT_TRUE(std::holds_alternative<wire::Done>(messages[3].second));
}

TEST(Outbox, ADroppedGenerationEndsWithoutCredit) {
    Wire wire;
    Outbox outbox(wire.sink());
    outbox.open(1, 0, -1);
    outbox.on_event(1, token(1, "a"));
    outbox.drop(1);
    outbox.on_event(1, token(1, "b"));
    outbox.on_event(1, done());
    const auto messages = wire.wait_for(1);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<wire::Done>(messages[0].second));
    outbox.add_credit(1, 5);  // late credit of a generation that is over
    EXPECT_FALSE(outbox.is_open(1));
}

TEST(Outbox, WhoNeverReadsIsCancelledAtTheLimit) {
    Wire wire;
    std::mutex mutex;
    std::condition_variable called;
    std::uint64_t cancelled = 0;
    Outbox outbox(wire.sink(), 1000);
    outbox.set_canceller([&](std::uint64_t generation) {
        const std::lock_guard lock(mutex);
        cancelled = generation;
        called.notify_all();
    });
    outbox.open(3, 0, -1);
    for (int i = 0; i < 100; ++i) outbox.on_event(3, token(1, "0123456789"));
    {
        std::unique_lock lock(mutex);
        EXPECT_TRUE(
            called.wait_for(lock, std::chrono::seconds(20), [&] { return cancelled == 3; }));
    }
    outbox.on_event(3, Done{.reason = FinishReason::cancelled, .stop_string = "", .timings = {}});
    const auto messages = wire.wait_for(1);
    EXPECT_EQ(std::get<wire::Failure>(messages[0].second).error.code, ErrorCode::budget_exceeded);
    outbox.set_canceller(nullptr);
}

TEST(Outbox, ARefusedGenerationIsGone) {
    Wire wire;
    Outbox outbox(wire.sink());
    outbox.open(1, 5, -1);
    outbox.refuse(1, {ErrorCode::busy, "full"});
    outbox.on_event(1, token(1, "late"));
    const auto messages = wire.wait_for(1);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(std::get<wire::Failure>(messages[0].second).error.message, "full");
}

TEST(Outbox, WhatIsLeftIsSentBeforeItGoes) {
    Wire wire;
    {
        Outbox outbox(wire.sink());
        for (int i = 0; i < 100; ++i) outbox.say(0, wire::Stats{.running = i});
    }
    EXPECT_EQ(wire.wait_for(100).size(), 100U);
}

}  // namespace
