// Generations against the scripted worker: order of calls, slow and vanishing clients, loading,
// limits.
#include "daemon/generate/generations.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <list>

#include "tests/daemon/supervise/harness.h"

using namespace hearth;
using namespace hearth::generate;
using hearth::supervise::run_until;

namespace {

struct Client : Subscriber {
    explicit Client(Generations& owner, bool reads = true)
        : generations(owner), is_reading(reads) {}

    void on_accepted(Accepted got) override {
        EXPECT_FALSE(accepted);
        accepted = std::move(got);
    }
    void on_delta(wire::Delta delta) override {
        EXPECT_TRUE(accepted);
        EXPECT_EQ(delta.number, deltas++);
        text += delta.text;
        if (is_reading) generations.consumed(number, 1);
        if (deltas == cancel_at) generations.cancel(number);
    }
    void on_done(wire::Done got) override {
        EXPECT_FALSE(is_over());
        done = std::move(got);
    }
    void on_error(Error got) override {
        EXPECT_FALSE(is_over());
        error = std::move(got);
    }
    bool is_over() const { return done || error; }

    Generations& generations;
    bool is_reading;
    std::uint64_t cancel_at = 0;
    std::uint64_t number = 0;
    std::optional<Accepted> accepted;
    std::uint64_t deltas = 0;
    std::string text;
    std::optional<wire::Done> done;
    std::optional<Error> error;
};

class GenerationsTest : public testing::Test {
protected:
    Client& start(const std::string& model, const std::string& prompt, bool reads = true) {
        Client& client = clients_.emplace_back(generations_, reads);
        Order order;
        order.model = models_.make(model, model);
        order.time = time_;
        order.prompt_bytes = bytes_;
        order.request.prompt = wire::TextPrompt{.text = prompt};
        order.request.sampling.seed = seed_;
        client.number = generations_.start(std::move(order), client);
        return client;
    }
    bool wait_for(const Client& client) {
        return run_until(io_, [&] { return client.is_over(); });
    }
    std::vector<supervise::LoadedModel> list() {
        std::optional<std::vector<supervise::LoadedModel>> models;
        supervisor_.list([&](auto got) { models = std::move(got); });
        EXPECT_TRUE(run_until(io_, [&] { return models.has_value(); }));
        return *models;
    }
    static supervise::Config config() {
        supervise::Config config;
        config.worker_path = FAKE_WORKER;
        return config;
    }

    supervise::Models models_;
    boost::asio::io_context io_;
    supervise::Supervisor supervisor_{io_, config()};
    Generations generations_{
        io_,
        supervisor_,
        {.max_generations = 20, .max_per_model = 15, .max_prompt_bytes = 100, .window = 8}};
    std::list<Client> clients_;
    std::optional<std::uint64_t> seed_;
    std::chrono::milliseconds time_{0};
    std::size_t bytes_ = 1;
};

TEST_F(GenerationsTest, TheModelIsLoadedAndTheAnswerStreams) {
    seed_ = 77;
    Client& client = start("ok", "count 30");
    EXPECT_FALSE(client.is_over());
    ASSERT_TRUE(wait_for(client));
    ASSERT_TRUE(client.done) << client.error->message;
    EXPECT_EQ(client.deltas, 30U);
    EXPECT_EQ(client.accepted->prompt_ids, (std::vector<std::int32_t>{7, 8}));
    EXPECT_EQ(client.accepted->model.architecture, "fake");
    EXPECT_EQ(client.accepted->seed, 77U);
    EXPECT_EQ(client.done->stop_string, "77") << "the worker got another seed";
    EXPECT_GT(client.done->timings.queue_ms, 0) << "loading counts";
    EXPECT_EQ(generations_.in_flight(), 0);
}

TEST_F(GenerationsTest, AMissingSeedIsDrawnAndReported) {
    Client& one = start("ok", "count 1");
    Client& two = start("ok", "count 1");
    ASSERT_TRUE(wait_for(one));
    ASSERT_TRUE(wait_for(two));
    EXPECT_NE(one.accepted->seed, two.accepted->seed);
    EXPECT_LT(one.accepted->seed, 1ULL << 53U);
    EXPECT_EQ(one.done->stop_string, std::to_string(one.accepted->seed));
}

TEST_F(GenerationsTest, AClientThatDoesNotReadHoldsUpItselfOnly) {
    Client& slow = start("ok", "count 100", /*reads=*/false);
    Client& fast = start("ok", "count 100");
    ASSERT_TRUE(wait_for(fast));
    EXPECT_EQ(fast.deltas, 100U);
    list();
    EXPECT_EQ(slow.deltas, 8U);
    slow.is_reading = true;
    generations_.consumed(slow.number, 8);
    ASSERT_TRUE(wait_for(slow));
    EXPECT_EQ(slow.deltas, 100U);
}

TEST_F(GenerationsTest, AClientThatGoesStopsTheWorkEvenFromItsOwnCallback) {
    Client& outside = start("ok", "count 1000000");
    Client& inside = start("ok", "count 1000000");
    inside.cancel_at = 5;
    EXPECT_TRUE(run_until(io_, [&] { return inside.deltas == 5 && outside.deltas > 5; }));
    generations_.cancel(outside.number);
    EXPECT_EQ(generations_.in_flight(), 0);
    EXPECT_EQ(list()[0].stats.running, 0);
    EXPECT_EQ(inside.deltas, 5U);
    EXPECT_FALSE(inside.is_over() || outside.is_over());
}

TEST_F(GenerationsTest, AClientThatGoesWhileTheModelLoadsIsNotHeardOfAgain) {
    Client& gone = start("ok", "count 3");
    generations_.cancel(gone.number);
    Client& other = start("ok", "count 3");
    ASSERT_TRUE(wait_for(other));
    EXPECT_FALSE(gone.accepted || gone.is_over());
}

TEST_F(GenerationsTest, ErrorsOfLoadingAndOfTheRequestArrive) {
    Client& broken = start("fail", "count 1");
    Client& refused = start("ok", "refuse");
    ASSERT_TRUE(wait_for(broken));
    EXPECT_EQ(broken.error->code, ErrorCode::model_corrupt);
    ASSERT_TRUE(wait_for(refused));
    EXPECT_EQ(refused.error->code, ErrorCode::context_exceeded);
    EXPECT_FALSE(refused.accepted);
}

TEST_F(GenerationsTest, AGenerationGoesOnInTheNextWorkerWithoutAGap) {
    seed_ = 7;
    Client& client = start("ok", "die-once 30");
    ASSERT_TRUE(wait_for(client));
    ASSERT_TRUE(client.done) << client.error->message;
    std::string expected;
    for (int i = 0; i < 30; ++i) expected += std::to_string(i) + " ";
    EXPECT_EQ(client.text, expected);
    EXPECT_EQ(client.deltas, 30U);
    EXPECT_EQ(client.done->timings.generated_tokens, 30);
    EXPECT_EQ(client.done->stop_string, "7") << "the second worker got another seed";
    EXPECT_GT(client.done->timings.generation_ms, 0);
}

TEST_F(GenerationsTest, WhatWasNotReadCountsAgainstTheNextWorker) {
    Client& client = start("ok", "die-once 30", /*reads=*/false);
    EXPECT_TRUE(run_until(io_, [&] { return client.deltas == 8; }));
    list();
    EXPECT_EQ(client.deltas, 8U) << "more than the window was in flight";
    client.is_reading = true;
    generations_.consumed(client.number, 8);
    ASSERT_TRUE(wait_for(client));
    EXPECT_EQ(client.deltas, 30U);
}

TEST_F(GenerationsTest, AGenerationThatOutlivedAWorkerCanBeCancelledWhileTheNextLoads) {
    Client& client = start("ok", "die-once 1000000");
    EXPECT_TRUE(run_until(io_, [&] { return client.deltas == 3; }));
    generations_.cancel(client.number);
    Client& next = start("ok", "count 1");
    ASSERT_TRUE(wait_for(next));
    EXPECT_EQ(client.deltas, 3U);
    EXPECT_EQ(generations_.in_flight(), 0);
}

TEST_F(GenerationsTest, ADeadlineEndsAGenerationAndItsWork) {
    time_ = std::chrono::milliseconds(50);
    Client& client = start("ok", "silent 1");
    ASSERT_TRUE(wait_for(client));
    EXPECT_EQ(client.error->code, ErrorCode::timed_out);
    EXPECT_NE(client.error->message.find("timeout_s"), std::string::npos);
    EXPECT_EQ(list()[0].stats.running, 0);
    Client& loading = start("hang", "count 1");
    ASSERT_TRUE(wait_for(loading));
    EXPECT_EQ(loading.error->code, ErrorCode::timed_out);
}

class T141 : public GenerationsTest {};
TEST_F(T141, PromptsInFlightAreLimitedInBytes) {
    bytes_ = 60;
    Client& first = start("ok", "silent 1");
    Client& second = start("ok", "count 1");
    ASSERT_TRUE(wait_for(second));
    EXPECT_EQ(second.error->code, ErrorCode::busy);
    EXPECT_FALSE(first.is_over());
    generations_.cancel(first.number);
    bytes_ = 1000;  // alone, a prompt may be larger
    Client& third = start("ok", "count 1");
    ASSERT_TRUE(wait_for(third));
    EXPECT_TRUE(third.done);
}

class T131 : public GenerationsTest {};
TEST_F(T131, AModelTakesSoManyAndTheRestIsBusyAtOnceWithTheNumbers) {
    for (int i = 0; i < 15; ++i) start("ok", "silent 1");
    Client& one_more = start("ok", "count 1");
    ASSERT_TRUE(wait_for(one_more));
    EXPECT_EQ(one_more.error->code, ErrorCode::busy);
    EXPECT_NE(one_more.error->message.find("15"), std::string::npos) << one_more.error->message;
    Client& elsewhere = start("ok2", "count 1");
    ASSERT_TRUE(wait_for(elsewhere));
    EXPECT_TRUE(elsewhere.done) << "another model has places of its own";
}

class T138 : public GenerationsTest {};
TEST_F(T138, AThousandStartsAndCancelsLeaveNothing) {
    Client& first = start("ok", "count 1");
    ASSERT_TRUE(wait_for(first));
    for (int i = 0; i < 1000; ++i) {
        Client& client = start("ok", i % 3 == 0 ? "count 1000000" : "silent 1");
        // A different number of turns of the loop each time: before, while and after it is taken.
        for (int turn = 0; turn < i % 7; ++turn) {
            io_.restart();
            io_.poll_one();
        }
        generations_.cancel(client.number);
    }
    EXPECT_EQ(generations_.in_flight(), 0);
    EXPECT_TRUE(run_until(io_, [&] { return list()[0].generations == 0; }));
    EXPECT_EQ(list()[0].stats.running, 0);
}

TEST_F(GenerationsTest, AWorkerThatDiesTwiceIsAnErrorAndTheNextGenerationGetsAFreshOne) {
    Client& first = start("ok", "die 5");
    Client& bystander = start("ok", "silent 1");
    ASSERT_TRUE(wait_for(first));
    EXPECT_EQ(first.error->code, ErrorCode::worker_died);
    EXPECT_EQ(first.deltas, 2U);
    EXPECT_EQ(first.text, "0 1 ");
    generations_.cancel(bystander.number);
    Client& next = start("ok", "count 2");
    ASSERT_TRUE(wait_for(next));
    EXPECT_TRUE(next.done);
}

TEST_F(GenerationsTest, TooManyAreBusy) {
    for (int i = 0; i < 20; ++i) start(i < 10 ? "ok" : "ok2", "silent 1");
    Client& one_more = start("ok", "count 1");
    EXPECT_FALSE(one_more.is_over());
    ASSERT_TRUE(wait_for(one_more));
    EXPECT_EQ(one_more.error->code, ErrorCode::busy);
}

TEST_F(GenerationsTest, StopTellsEverySubscriber) {
    Client& running = start("ok", "silent 1");
    EXPECT_TRUE(run_until(io_, [&] { return running.accepted.has_value(); }));
    Client& loading = start("hang", "count 1");
    generations_.stop();
    Client& late = start("ok", "count 1");
    for (const Client* client : {&running, &loading, &late}) {
        ASSERT_TRUE(wait_for(*client));
        EXPECT_EQ(client->error->code, ErrorCode::shutting_down);
    }
}

}  // namespace
