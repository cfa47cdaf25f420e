// Numbers, memory and readers of the hub, with a timer that a test moves.
#include "daemon/api/event_hub.h"

#include <gtest/gtest.h>

using namespace hearth;
using namespace hearth::api;

namespace {

struct FakeTime {
    std::chrono::milliseconds waits{0};  // 0: no timer runs
    std::function<void()> action;
    int starts = 0;
};

class FakeTimer final : public Timer {
public:
    explicit FakeTimer(FakeTime& time) : time_(time) {}
    void start(std::chrono::milliseconds time, std::function<void()> action) override {
        time_ = {time, std::move(action), time_.starts + 1};
    }
    void cancel() override { time_.waits = {}; }

private:
    FakeTime& time_;
};

class Listener final : public EventSubscriber {
public:
    explicit Listener(bool samples = false) : samples_(samples) {}
    bool wants_samples() const override { return samples_; }
    void on_event(const Event& event) override {
        heard += std::string(event.name) + ":" + std::to_string(event.id) + " ";
    }
    void on_keep_alive() override { ++keep_alives; }
    void on_end() override { heard += "end"; }

    std::string heard;
    int keep_alives = 0;

private:
    bool samples_;
};

class EventHubTest : public ::testing::Test {
protected:
    void fire() {
        const auto action = time_.action;
        action();
    }

    FakeTime time_;
    EventHub hub_{100, std::make_unique<FakeTimer>(time_)};
};

TEST_F(EventHubTest, NumbersGoOnFromTheFirstAndSamplesHaveNone) {
    Listener plain;
    Listener curious(true);
    ASSERT_TRUE(hub_.add(plain) && hub_.add(curious));
    EXPECT_TRUE(hub_.are_samples_wanted());
    hub_.publish("a", {});
    hub_.publish_sample("s", {});
    hub_.publish("b", {});
    EXPECT_EQ(plain.heard, "a:101 b:102 ");
    EXPECT_EQ(curious.heard, "a:101 s:0 b:102 ");
    hub_.remove(curious);
    EXPECT_FALSE(hub_.are_samples_wanted());
    EXPECT_EQ(hub_.last(), 102U);
}

TEST_F(EventHubTest, WhatIsRememberedIsGivenAgainAndNothingElse) {
    for (const std::uint64_t number : {0UL, 99UL, 101UL})
        EXPECT_FALSE(hub_.since(number)) << number;
    ASSERT_TRUE(hub_.since(100));
    EXPECT_TRUE(hub_.since(100)->empty());
    for (int i = 0; i < 3; ++i) hub_.publish("a", {{"i", i}});
    const auto two = hub_.since(101);
    ASSERT_TRUE(two);
    ASSERT_EQ(two->size(), 2U);
    EXPECT_EQ(two->at(0).id, 102U);
    EXPECT_EQ(two->at(1).data, R"({"i":2})");
    EXPECT_TRUE(hub_.since(103)->empty());
    EXPECT_FALSE(hub_.since(104)) << "not given yet";
}

TEST_F(EventHubTest, ChangesAreForgottenByNumberAndByBytes) {
    for (std::size_t i = 0; i < EventHub::kMaxChanges + 10; ++i) hub_.publish("a", {});
    EXPECT_FALSE(hub_.since(109));
    ASSERT_TRUE(hub_.since(110));
    EXPECT_EQ(hub_.since(110)->size(), EventHub::kMaxChanges);
    const std::string large(EventHub::kMaxBytes / 4, 'x');
    for (int i = 0; i < 10; ++i) hub_.publish("a", {{"x", large}});
    EXPECT_FALSE(hub_.since(hub_.last() - 4));
    EXPECT_TRUE(hub_.since(hub_.last() - 3));
}

TEST_F(EventHubTest, OnlyReadersKeepATimerAwake) {
    EXPECT_EQ(time_.starts, 0);
    Listener one;
    Listener two;
    ASSERT_TRUE(hub_.add(one) && hub_.add(two));
    EXPECT_EQ(time_.starts, 1);
    EXPECT_EQ(time_.waits, std::chrono::seconds(15));
    fire();
    EXPECT_EQ(time_.starts, 2) << "it goes on";
    EXPECT_EQ(one.keep_alives + two.keep_alives, 2);
    hub_.remove(one);
    EXPECT_NE(time_.waits.count(), 0);
    hub_.remove(two);
    EXPECT_EQ(time_.waits.count(), 0);
}

TEST_F(EventHubTest, ReadersHaveALimitAndAnEnd) {
    std::vector<std::unique_ptr<Listener>> readers;
    for (std::size_t i = 0; i < EventHub::kMaxSubscribers; ++i) {
        readers.push_back(std::make_unique<Listener>());
        ASSERT_TRUE(hub_.add(*readers.back()));
    }
    Listener late;
    const auto refused = hub_.add(late);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::busy);
    hub_.end();
    for (const auto& reader : readers) EXPECT_EQ(reader->heard, "end");
    EXPECT_EQ(time_.waits.count(), 0);
    const auto over = hub_.add(late);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, ErrorCode::shutting_down);
}

}  // namespace
