// The engine thread with the tiny model on the reference ops: what sinks are told, and that
// neighbours, preemption and interruption never change a token.
#include "engine/serve/engine_loop.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <optional>

#include "engine/base/mapped_file.h"
#include "engine/model/families.h"
#include "engine/reference/reference_ops.h"
#include "tests/support/paths.h"

namespace hearth::serve {
namespace {

using Ids = std::vector<std::int32_t>;

struct Outcome {
    Ids ids;
    std::vector<std::string> calls;
    std::optional<Error> error;
};

class RecordingSink final : public TokenSink {
public:
    RecordingSink(int most, std::function<void(int)> on_count)
        : most_(most), on_count_(std::move(on_count)) {}
    std::future<Outcome> outcome() { return promise_.get_future(); }

    bool on_accepted() override {
        outcome_.calls.push_back("accepted");
        return most_ > 0;
    }
    void on_started() override { outcome_.calls.push_back("started"); }
    bool on_token(const sample::Picked& picked) override {
        if (outcome_.ids.empty()) outcome_.calls.push_back("token");
        outcome_.ids.push_back(picked.id);
        if (on_count_) on_count_(static_cast<int>(outcome_.ids.size()));
        return static_cast<int>(outcome_.ids.size()) < most_;
    }
    void on_end(Result<void> result) override {
        outcome_.calls.push_back("end");
        if (!result) outcome_.error = result.error();
        promise_.set_value(std::move(outcome_));
    }

private:
    const int most_;
    const std::function<void(int)> on_count_;
    Outcome outcome_;
    std::promise<Outcome> promise_;
};

struct Settings {
    int pages = 256;
    LoopOptions loop = {
        .step_rows = 64, .prompt_rows = 16, .sequences = 8, .waiting = 8, .context = 256};
};

class Served {
public:
    explicit Served(Settings settings = {}, std::unique_ptr<Ops> ops = make_reference_ops())
        : ops_(std::move(ops)) {
        const MappedFile mapped = std::move(MappedFile::open(testing::tiny_model_path())).value();
        const gguf::File file = std::move(gguf::File::read(mapped.bytes())).value();
        model_ = std::move(model::load(*ops_, file, 0)).value();
        runner_.emplace(std::move(Runner::make(*ops_, *model_,
                                               {.limits = {.rows = settings.loop.step_rows,
                                                           .sampled = settings.loop.sequences},
                                                .pages = settings.pages}))
                            .value());
        loop_.emplace(*runner_, 320, settings.loop);
    }

    Result<std::future<Outcome>> submit(Job job, int most, std::function<void(int)> on_count = {}) {
        auto sink = std::make_unique<RecordingSink>(most, std::move(on_count));
        auto outcome = sink->outcome();
        job.sink = std::move(sink);
        HEARTH_TRY_VOID(loop_->submit(std::move(job)));
        return outcome;
    }
    Outcome answer(Job job, int most) {
        return std::move(submit(std::move(job), most)).value().get();
    }
    EngineLoop& loop() { return *loop_; }
    void stop() { loop_.reset(); }

private:
    std::unique_ptr<Ops> ops_;
    std::unique_ptr<model::Model> model_;
    std::optional<Runner> runner_;
    std::optional<EngineLoop> loop_;
};

// A prompt of its own for each number, sampled at temperature 1.
Job job(std::uint64_t number) {
    Job job;
    job.id = number;
    for (std::int32_t i = 0; i < 10 + static_cast<std::int32_t>(number % 7) * 5; ++i)
        job.ids.push_back((i * 31 + static_cast<std::int32_t>(number) * 17) % 320);
    job.prompt = static_cast<int>(job.ids.size());
    job.sampling.seed = number;
    return job;
}

TEST(EngineLoop, TellsTheSinkInOrder) {
    Served served;
    const Outcome outcome = served.answer(job(1), 5);
    EXPECT_EQ(outcome.calls, (std::vector<std::string>{"accepted", "started", "token", "end"}));
    EXPECT_EQ(outcome.ids.size(), 5U);
    EXPECT_FALSE(outcome.error.has_value());
}

TEST(EngineLoop, AJobWithNothingToDoEndsWithoutAStep) {
    Served served;
    const Outcome outcome = served.answer(job(1), 0);
    EXPECT_EQ(outcome.calls, (std::vector<std::string>{"accepted", "end"}));
    EXPECT_EQ(served.loop().stats().steps, 0U);
}

TEST(EngineLoop, ManyAtOnceGetWhatEachGetsAlone) {
    std::map<std::uint64_t, Ids> alone;
    {
        Served served;
        for (std::uint64_t n = 1; n <= 12; ++n) alone[n] = served.answer(job(n), 20).ids;
    }
    Served served;
    std::map<std::uint64_t, std::future<Outcome>> together;
    for (std::uint64_t n = 1; n <= 12; ++n)
        together[n] = std::move(served.submit(job(n), 20)).value();
    for (auto& [n, outcome] : together) EXPECT_EQ(outcome.get().ids, alone[n]) << n;
}

TEST(EngineLoop, PreemptedSequencesAreComputedAgainToTheSameTokens) {
    std::map<std::uint64_t, Ids> alone;
    {
        Served served;
        for (std::uint64_t n = 1; n <= 8; ++n) alone[n] = served.answer(job(n), 60).ids;
    }
    Settings tight;
    tight.pages = 12;
    tight.loop.context = 192;
    Served served(tight);
    std::map<std::uint64_t, std::future<Outcome>> together;
    for (std::uint64_t n = 1; n <= 8; ++n)
        together[n] = std::move(served.submit(job(n), 60)).value();
    for (auto& [n, outcome] : together) EXPECT_EQ(outcome.get().ids, alone[n]) << n;
    EXPECT_GT(served.loop().stats().preemptions, 0U);
}

TEST(EngineLoop, AnInterruptedGenerationGoesOnExactly) {
    Served served;
    const Ids whole = served.answer(job(3), 30).ids;
    for (const std::ptrdiff_t cut : {1, 7, 29}) {
        Job rest = job(3);
        rest.ids.insert(rest.ids.end(), whole.begin(), whole.begin() + cut);
        EXPECT_EQ(served.answer(std::move(rest), 30 - static_cast<int>(cut)).ids,
                  Ids(whole.begin() + cut, whole.end()));
    }
}

TEST(EngineLoop, CancelEndsARunningJobAndFreesItsPages) {
    Served served;
    auto outcome = std::move(served.submit(job(1), 200,
                                           [&](int count) {
                                               if (count == 3) served.loop().cancel(1);
                                           }))
                       .value()
                       .get();
    EXPECT_EQ(outcome.error->code, ErrorCode::cancelled);
    EXPECT_EQ(outcome.ids.size(), 3U);  // within one step: the token of the step that was running
    const LoopStats stats = served.loop().stats();
    EXPECT_EQ(stats.pages_free, stats.pages_total);
    EXPECT_EQ(stats.running, 0);
}

TEST(EngineLoop, CancelOfAnUnknownJobIsIgnored) {
    Served served;
    served.loop().cancel(77);
    EXPECT_EQ(served.answer(job(77), 3).ids.size(), 3U);
    served.loop().cancel(77);
}

TEST(EngineLoop, AnIdMayComeAgainOnlyAfterItsEnd) {
    Served served;
    std::promise<void> held;
    auto hold = held.get_future().share();
    auto first = std::move(served.submit(job(1), 5, [hold](int count) {
                     if (count == 1) hold.wait();
                 })).value();
    EXPECT_EQ(served.submit(job(1), 5).error().code, ErrorCode::bad_input);
    held.set_value();
    first.get();
    EXPECT_TRUE(served.submit(job(1), 5));
}

TEST(EngineLoop, TooManyJobsAreAnsweredBusy) {
    Settings settings;
    settings.loop.sequences = 1;
    settings.loop.waiting = 2;
    Served served(settings);
    std::promise<void> held;
    auto hold = held.get_future().share();
    std::vector<std::future<Outcome>> accepted;
    accepted.push_back(std::move(served.submit(job(1), 3, [hold](int count) {
                           if (count == 1) hold.wait();
                       })).value());
    accepted.push_back(std::move(served.submit(job(2), 3)).value());
    accepted.push_back(std::move(served.submit(job(3), 3)).value());
    EXPECT_EQ(served.submit(job(4), 3).error().code, ErrorCode::busy);
    held.set_value();
    for (auto& outcome : accepted) EXPECT_EQ(outcome.get().ids.size(), 3U);
    EXPECT_EQ(served.answer(job(4), 3).ids.size(), 3U);
}

TEST(EngineLoop, StoppingCancelsWhatRunsAndWhatWaits) {
    Settings settings;
    settings.loop.sequences = 1;
    Served served(settings);
    std::promise<void> running;
    auto first = std::move(served.submit(job(1), 200, [&](int count) {
                     if (count == 1) running.set_value();
                 })).value();
    auto second = std::move(served.submit(job(2), 200)).value();
    running.get_future().wait();
    served.stop();
    EXPECT_EQ(first.get().error->code, ErrorCode::cancelled);
    EXPECT_EQ(second.get().error->code, ErrorCode::cancelled);
}

TEST(EngineLoop, CountsItsWork) {
    Served served;
    served.answer(job(1), 5);  // 15 prompt tokens
    const LoopStats stats = served.loop().stats();
    EXPECT_EQ(stats.prompt_tokens, 15U);
    EXPECT_EQ(stats.generated_tokens, 5U);
    EXPECT_EQ(stats.steps, 5U);
    EXPECT_EQ(stats.preemptions, 0U);
}

TEST(EngineLoop, CountsAPromptOfOneToken) {
    Served served;
    Job shortest = job(1);
    shortest.ids.resize(1);
    shortest.prompt = 1;
    served.answer(std::move(shortest), 3);
    EXPECT_EQ(served.loop().stats().prompt_tokens, 1U);
}

}  // namespace
}  // namespace hearth::serve
