// The supervisor against a scripted worker: loading, sharing, making room, ending, and every way a
// worker can misbehave.
#include "daemon/supervise/supervisor.h"

#include <gmock/gmock.h>
#include <signal.h>

#include "tests/daemon/supervise/supervisor_fixture.h"

using namespace hearth;
using namespace hearth::supervise;
using testing::HasSubstr;

namespace {

TEST_F(SupervisorTest, ManyFirstRequestsShareOneLoad) {
    const ModelFile file = models_.make("a", "ok");
    int ready = 0;
    for (int i = 0; i < 10; ++i) {
        supervisor_->ensure_loaded(file, [&](auto got) { ready += got ? 1 : 0; });
    }
    EXPECT_TRUE(run_until(io_, [&] { return ready == 10; }));
    const auto models = list();
    ASSERT_EQ(models.size(), 1U);
    EXPECT_EQ(models[0].state, State::ready);
    EXPECT_EQ(models[0].info.architecture, "fake");
    EXPECT_EQ(models[0].info.name, "a");
    EXPECT_GT(models[0].pid, 0);
    EXPECT_GT(models[0].private_bytes, 0U);
    EXPECT_GE(models[0].resident_bytes, models[0].private_bytes);
    EXPECT_EQ(models[0].stats.steps, 42U);
    EXPECT_GE(changes_, 2);
}

TEST_F(SupervisorTest, AGenerationStreamsToItsEnd) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "count 5", sink);
    ASSERT_TRUE(wait_for(sink));
    EXPECT_EQ(sink.text, "0 1 2 3 4 ");
    EXPECT_EQ(sink.prompt_ids, (std::vector<std::int32_t>{7, 8}));
    ASSERT_TRUE(sink.done);
    EXPECT_EQ(sink.done->reason, wire::FinishReason::length);
}

TEST_F(SupervisorTest, TheWorkerHasOnlyItsOwnDescriptorsAndEnvironment) {
    const int leak = dup(2);  // without close-on-exec
    ASSERT_TRUE(load(models_.make("a", "ok")));
    close(leak);
    Recorder sink;
    submit("a", 1, "fds", sink);
    ASSERT_TRUE(wait_for(sink));
    EXPECT_THAT(sink.text, testing::MatchesRegex("0 1 2 3 4 \\|LANG=C.UTF-8;(TZ=[^;]*;)?"));
}

TEST_F(SupervisorTest, ErrorLinesReachTheLogPrintable) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    EXPECT_TRUE(run_until(io_, [&] { return !lines_.empty(); }));
    EXPECT_EQ(lines_, "a: loaded  ok\n");
}

TEST_F(SupervisorTest, CreditsHoldASlowReaderAndNobodyElse) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder slow;
    Recorder fast;
    submit("a", 1, "count 100", slow, 3);
    submit("a", 2, "count 50", fast, 64);
    ASSERT_TRUE(wait_for(fast));
    EXPECT_EQ(fast.deltas, 50);
    EXPECT_TRUE(run_until(io_, [&] { return slow.deltas == 3; }));
    list();  // a round trip: what it would have sent has come
    EXPECT_EQ(slow.deltas, 3);
    supervisor_->grant("a", 1, 97);
    ASSERT_TRUE(wait_for(slow));
    EXPECT_EQ(slow.deltas, 100);
}

TEST_F(SupervisorTest, ACancelledGenerationStopsInTheWorkerAndSaysNothingMore) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "count 1000000", sink, 10);
    EXPECT_TRUE(run_until(io_, [&] { return sink.deltas > 0; }));
    EXPECT_EQ(list()[0].stats.running, 1);
    supervisor_->cancel("a", 1);
    const int seen = sink.deltas;
    const auto models = list();
    EXPECT_EQ(models[0].stats.running, 0);
    EXPECT_EQ(models[0].generations, 0);
    EXPECT_EQ(sink.deltas, seen);
    EXPECT_FALSE(sink.is_over());
}

TEST_F(SupervisorTest, AKilledWorkerFailsItsGenerationsAndTheNextRequestStartsAnother) {
    const ModelFile file = models_.make("a", "ok");
    ASSERT_TRUE(load(file));
    Recorder one;
    Recorder two;
    submit("a", 1, "silent 1", one);
    submit("a", 2, "count 1000000", two, 8);
    EXPECT_TRUE(run_until(io_, [&] { return two.deltas == 8; }));
    const int pid = list()[0].pid;
    kill(pid, SIGKILL);
    ASSERT_TRUE(wait_for(one));
    ASSERT_TRUE(wait_for(two));
    ASSERT_TRUE(one.error && two.error);
    EXPECT_EQ(one.error->code, ErrorCode::worker_died);
    EXPECT_THAT(one.error->message, HasSubstr("signal 9"));
    ASSERT_TRUE(load(file));
    EXPECT_NE(list()[0].pid, pid);
    EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid))) << "not reaped";
}

TEST_F(SupervisorTest, AWorkerThatDiesWhileLoadingFailsItsWaiters) {
    const auto result = load(models_.make("a", "die"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::worker_died);
}

TEST_F(SupervisorTest, AModelThatCannotBeLoadedGivesTheWorkersError) {
    for (int i = 0; i < 3; ++i) {
        const auto result = load(models_.make("a", "fail"));
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::model_corrupt);
        EXPECT_EQ(result.error().message, "this model is broken");
    }
    EXPECT_TRUE(run_until(io_, [&] { return list().empty(); }));
}

TEST_F(SupervisorTest, AMissingFileAProgramThatIsNotThereAndAFolderAreErrors) {
    EXPECT_EQ(load({.id = "x", .path = "/nonexistent", .options = {}}).error().code,
              ErrorCode::not_found);
    EXPECT_EQ(load({.id = "x", .path = "/", .options = {}}).error().code, ErrorCode::bad_input);
    Config other = config();
    other.worker_path = "/nonexistent/hearth-worker";
    make(other);
    EXPECT_EQ(load(models_.make("a", "ok")).error().code, ErrorCode::not_found);
}

TEST_F(SupervisorTest, ALoadThatTakesTooLongIsEnded) {
    Config other = config();
    other.load_time = std::chrono::milliseconds(50);
    make(other);
    EXPECT_EQ(load(models_.make("a", "hang")).error().code, ErrorCode::timed_out);
}

TEST_F(SupervisorTest, AWorkerThatBreaksTheProtocolIsEnded) {
    for (const char* model : {"garbage", "broken json"}) {
        SCOPED_TRACE(model);
        EXPECT_EQ(load(models_.make("a", model)).error().code, ErrorCode::worker_died);
    }
    for (const char* prompt : {"early", "stray", "twice", "jump", "flood 65"}) {
        SCOPED_TRACE(prompt);
        const ModelFile file = models_.make("b", "ok");
        ASSERT_TRUE(load(file));
        Recorder sink;
        submit("b", 1, prompt, sink);
        ASSERT_TRUE(wait_for(sink));
        ASSERT_TRUE(sink.error);
        EXPECT_EQ(sink.error->code, ErrorCode::worker_died);
        EXPECT_LE(sink.deltas, 64);
    }
}

TEST_F(SupervisorTest, ARefusedGenerationLeavesTheWorkerAlone) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "refuse", sink);
    ASSERT_TRUE(wait_for(sink));
    EXPECT_EQ(sink.error->code, ErrorCode::context_exceeded);
    EXPECT_TRUE(supervisor_->is_loaded("a"));
}

TEST_F(SupervisorTest, UnloadingByHandEndsTheProcess) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "silent 1", sink);
    EXPECT_TRUE(unload("a"));
    ASSERT_TRUE(sink.error);
    EXPECT_EQ(sink.error->code, ErrorCode::shutting_down);
    EXPECT_TRUE(list().empty());
    EXPECT_FALSE(unload("a"));
    Recorder late;
    EXPECT_FALSE(supervisor_->submit("a", 2, {}, late));
}

TEST_F(SupervisorTest, AWorkerThatDoesNotEndWhenAskedIsKilled) {
    Config other = config();
    other.stop_time = std::chrono::milliseconds(30);
    make(other);
    ASSERT_TRUE(load(models_.make("a", "stubborn")));
    EXPECT_TRUE(unload("a"));
    EXPECT_TRUE(list().empty());
}

TEST_F(SupervisorTest, AnUnusedModelGoesAfterItsTimeAndStatusPollsDoNotKeepIt) {
    Config other = config();
    other.idle_time = std::chrono::milliseconds(50);
    make(other);
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "silent 1", sink);
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(run_until(io_, [&] {
        list();
        return std::chrono::steady_clock::now() - before > std::chrono::milliseconds(120);
    }));
    EXPECT_EQ(list()[0].state, State::ready) << "a model that works is not unused";
    supervisor_->cancel("a", 1);
    EXPECT_TRUE(run_until(io_, [&] { return list().empty(); }));
}

TEST_F(SupervisorTest, ALoadWhileTheModelStopsStartsItAgain) {
    const ModelFile file = models_.make("a", "ok");
    ASSERT_TRUE(load(file));
    const int pid = list()[0].pid;
    bool unloaded = false;
    supervisor_->unload("a", [&](auto) { unloaded = true; });
    ASSERT_TRUE(load(file));
    EXPECT_TRUE(unloaded);
    EXPECT_NE(list()[0].pid, pid);
}

TEST_F(SupervisorTest, TheModelUnusedLongestMakesRoom) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    ASSERT_TRUE(load(models_.make("b", "ok")));
    ASSERT_TRUE(load(models_.make("a", "ok")));  // used again
    ASSERT_TRUE(load(models_.make("c", "ok")));
    EXPECT_TRUE(supervisor_->is_loaded("a"));
    EXPECT_FALSE(supervisor_->is_loaded("b"));
    EXPECT_TRUE(supervisor_->is_loaded("c"));
}

TEST_F(SupervisorTest, WhenAllModelsWorkAnotherIsRefused) {
    Recorder sinks[2];
    ASSERT_TRUE(load(models_.make("a", "ok")));
    submit("a", 1, "silent 1", sinks[0]);
    ASSERT_TRUE(load(models_.make("b", "ok")));
    submit("b", 2, "silent 1", sinks[1]);
    const auto result = load(models_.make("c", "ok"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::busy);
    EXPECT_EQ(list().size(), 2U);
}

TEST_F(SupervisorTest, StopEndsEverythingAndRefusesWhatComesLater) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    Recorder sink;
    submit("a", 1, "silent 1", sink);
    std::optional<Result<wire::ModelInfo>> loading;
    supervisor_->ensure_loaded(models_.make("h", "hang"),
                               [&](auto got) { loading = std::move(got); });
    const auto models = list();
    bool stopped = false;
    supervisor_->stop([&] { stopped = true; });
    EXPECT_TRUE(run_until(io_, [&] { return stopped; }));
    EXPECT_EQ(sink.error->code, ErrorCode::shutting_down);
    EXPECT_EQ(loading->error().code, ErrorCode::shutting_down);
    EXPECT_EQ(load(models_.make("b", "ok")).error().code, ErrorCode::shutting_down);
    for (const LoadedModel& model : models) {
        EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(model.pid)));
    }
}

TEST_F(SupervisorTest, DroppingTheSupervisorLeavesNoProcess) {
    ASSERT_TRUE(load(models_.make("a", "ok")));
    const int pid = list()[0].pid;
    supervisor_.reset();
    EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid)));
    io_.restart();
    io_.poll();
}

}  // namespace
