// Workers that die under real answers, files that change under them, and a worker that is hostile.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/paths.h"
#include "tests/system/processes.h"
#include "tests/system/running_daemon.h"

using namespace hearth;
using namespace hearth::testing;
using ::testing::HasSubstr;

namespace {

struct Answer {
    std::string text;
    std::vector<std::int32_t> ids;
    std::vector<double> logprobs;
    std::string finish_reason;
    int tokens = 0;
    bool operator==(const Answer&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
    return out << answer.tokens << " tokens, " << answer.finish_reason << ": " << answer.text;
}

void add(const protocol::Reply& reply, Answer& answer) {
    for (const auto& choice : reply.choices) {
        answer.text += choice.text;
        answer.ids.insert(answer.ids.end(), choice.token_ids.begin(), choice.token_ids.end());
        for (const auto& token : choice.logprobs) answer.logprobs.push_back(token.logprob);
        answer.finish_reason += choice.finish_reason;
    }
    if (reply.usage) answer.tokens = reply.usage->completion_tokens;
}

class ResumeTest : public ::testing::Test {
protected:
    ResumeTest() { daemon_.import(tiny_model_path(), "tiny"); }

    static protocol::ChatRequest chat(double temperature) {
        protocol::ChatRequest request;
        request.messages = {{{"role", "user"}, {"content", "Tell me a long story."}}};
        request.options.max_tokens = 200;
        request.options.temperature = temperature;
        request.options.seed = 11;
        request.options.repetition_penalty = 1.1;
        request.options.ignore_end = true;
        request.options.return_token_ids = true;
        request.options.include_usage = true;
        request.options.logprobs = 0;
        return request;
    }
    // Of a model that is loaded, by force: what the tests do to it must not count against it. A
    // process that a test has killed may still be listed for a moment.
    int worker() const {
        int pid = 0;
        EXPECT_TRUE(becomes_true([&] {
            if (!daemon_.client().load("tiny", {.force = true})) return false;
            const auto status = daemon_.client().status();
            pid = status->models.empty() ? 0 : status->models[0].pid;
            return pid > 0 && !is_gone(pid);
        }));
        return pid;
    }
    int resumed() const {
        int count = 0;
        const std::string log = daemon_.log();
        for (std::size_t at = 0; (at = log.find("goes on in another process", at)) != log.npos;
             ++at)
            ++count;
        return count;
    }

    Answer whole(const protocol::ChatRequest& request) const {
        Answer answer;
        const auto reply = daemon_.client().chat(request);
        EXPECT_TRUE(reply) << reply.error().message;
        if (reply) add(*reply, answer);
        return answer;
    }
    Answer streamed(const protocol::ChatRequest& request, int kill_at, int pid) const {
        Answer answer;
        int chunks = 0;
        const auto ended = daemon_.client().chat(request, [&](const protocol::Reply& chunk) {
            add(chunk, answer);
            if (++chunks == kill_at) ::kill(pid, SIGKILL);
            return true;
        });
        EXPECT_TRUE(ended) << ended.error().message;
        return answer;
    }
    // Once more while the tiny model was through before the signal came.
    template <typename Run>
    Answer interrupted(Run run) {
        const int before = resumed();
        for (int attempt = 0; attempt < 50; ++attempt) {
            const Answer answer = run(worker());
            if (resumed() > before) return answer;
        }
        ADD_FAILURE() << "no worker died in mid-answer";
        return {};
    }
    Answer interrupted_stream(const protocol::ChatRequest& request, int kill_at) {
        return interrupted([&](int pid) { return streamed(request, kill_at, pid); });
    }
    Answer interrupted_whole(const protocol::ChatRequest& request) {
        return interrupted([&](int pid) {
            std::thread killer([&, pid] {
                becomes_true([&] {
                    const auto status = daemon_.client().status();
                    return !status->models.empty() && status->models[0].running > 0;
                });
                ::kill(pid, SIGKILL);
            });
            const Answer answer = whole(request);
            killer.join();
            return answer;
        });
    }

    RunningDaemon daemon_;
};

TEST_F(ResumeTest, AStreamWhoseWorkerIsKilledEqualsTheUninterruptedOne) {
    for (const double temperature : {0.0, 1.3}) {
        SCOPED_TRACE(temperature);
        const auto request = chat(temperature);
        const Answer expected = streamed(request, -1, 0);
        EXPECT_EQ(expected.tokens, 200);
        EXPECT_EQ(interrupted_stream(request, 2), expected);
        EXPECT_EQ(interrupted_stream(request, 20), expected);
    }
}

TEST_F(ResumeTest, AWholeReplyWhoseWorkerIsKilledEqualsTheUninterruptedOne) {
    for (const double temperature : {0.0, 1.3}) {
        SCOPED_TRACE(temperature);
        const auto request = chat(temperature);
        EXPECT_EQ(interrupted_whole(request), whole(request));
    }
}

TEST_F(ResumeTest, AStopStringOverTheBorderIsFound) {
    auto request = chat(1.3);
    const std::string text = whole(request).text;
    std::size_t at = text.size() * 3 / 4;
    while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    std::size_t end = std::min(text.size(), at + 9);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    request.options.stop = {text.substr(at, end - at)};
    const Answer expected = streamed(request, -1, 0);
    EXPECT_EQ(expected.finish_reason, "stop");
    for (const int kill_at : {2, 30, 60}) EXPECT_EQ(interrupted_stream(request, kill_at), expected);
}

TEST_F(ResumeTest, AWorkerThatIsStoppedIsReplacedAndTheAnswerGoesOn) {
    ASSERT_EQ(daemon_.terminate(), 0);
    RunningDaemon daemon({.worker = {}, .arguments = {"--hang-time", "1"}});
    daemon.import(tiny_model_path(), "tiny");
    const auto request = chat(1.3);
    const auto expected = daemon.client().chat(request);
    ASSERT_TRUE(expected);
    ::kill(daemon.client().status()->models.at(0).pid, SIGSTOP);
    const auto reply = daemon.client().chat(request);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->choices.at(0).token_ids, expected->choices.at(0).token_ids);
}

// A signal to one thread ends the process: none goes missing in silence.
class T161 : public ResumeTest {};

TEST_F(T161, AFatalSignalInAnyThreadEndsTheWorkerAndTheNextRequestWorks) {
    const Answer expected = whole(chat(0.0));
    std::set<std::string> seen;
    const auto threads = threads_of(worker());
    EXPECT_GE(threads.size(), 3U);
    for (const auto& [first_thread, name] : threads) {
        if (!seen.insert(name).second) continue;
        SCOPED_TRACE(name);
        const int pid = worker();
        for (const auto& [thread, other] : threads_of(pid)) {
            if (other != name) continue;
            ASSERT_EQ(::syscall(SYS_tgkill, pid, thread, SIGSEGV), 0);
            break;
        }
        EXPECT_TRUE(becomes_true([&] { return is_gone(pid); }));
        EXPECT_EQ(whole(chat(0.0)), expected);
    }
}

// ---- load ----

protocol::CompletionRequest completion(std::vector<std::int32_t> prompt, int max_tokens) {
    protocol::CompletionRequest request;
    request.prompts = {std::move(prompt)};
    request.options.max_tokens = max_tokens;
    request.options.temperature = 0.0;
    request.options.ignore_end = true;
    request.options.return_token_ids = true;
    return request;
}

// The figure of the item (first token within three times its solo time) is a matter of the machine;
// here: it is through before the other client's jobs are.
TEST(T132, AShortRequestDoesNotWaitForAnotherClientsFiftyLongOnes) {
    RunningDaemon daemon({.worker = {}, .arguments = {"--max-sequences", "4"}});
    daemon.import(tiny_model_path(), "tiny");
    ASSERT_TRUE(daemon.client().load("tiny"));
    std::atomic<int> finished = 0;
    std::vector<std::thread> jobs;
    for (int i = 0; i < 50; ++i)
        jobs.emplace_back([&] {
            auto job = completion(std::vector<std::int32_t>(60, 5), 150);
            job.options.client = "busy";
            EXPECT_TRUE(daemon.client().complete(job));
            ++finished;
        });
    EXPECT_TRUE(becomes_true([&] { return daemon.client().status()->running >= 40; }));
    auto mine = completion({1, 2, 3}, 1);
    mine.options.client = "short";
    EXPECT_TRUE(daemon.client().complete(mine));
    EXPECT_LT(finished, 40);
    for (std::thread& job : jobs) job.join();
    EXPECT_EQ(finished, 50);
}

TEST(T145, MoreThreadsThanCoresMakeProgressAndTheSameAnswer) {
    std::vector<std::vector<std::int32_t>> answers;
    for (const char* threads : {"1", "9"}) {
        RunningDaemon daemon({.worker = {}, .arguments = {"--threads", threads}});
        daemon.import(tiny_model_path(), "tiny");
        const auto reply = daemon.client().complete(completion({1, 2, 3}, 40));
        ASSERT_TRUE(reply) << reply.error().message;
        answers.push_back(reply->choices.at(0).token_ids);
    }
    EXPECT_EQ(answers[0], answers[1]);
}

TEST(T134, AContextThatDoesNotFitIsRefusedByItsEstimateWithTheNumbers) {
    RunningDaemon daemon({.worker = {}, .arguments = {"--kv-bytes", "4K"}});
    daemon.import(tiny_model_path(), "tiny");
    const auto refused = daemon.client().load("tiny");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::no_memory);
    EXPECT_THAT(refused.error().message, HasSubstr("MiB"));
    EXPECT_TRUE(daemon.client().status()->quarantined.empty()) << "a refusal is no harm";
}

class T133 : public ResumeTest {};
TEST_F(T133, ExtremesAreRefusedOrEndAtTheContext) {
    auto most = completion({1, 2, 3}, 2'147'483'647);
    most.options.choices = 8;
    const auto reply = daemon_.client().complete(most);
    ASSERT_TRUE(reply) << reply.error().message;
    const int context = daemon_.client().load("tiny")->context;
    for (const auto& choice : reply->choices) {
        EXPECT_EQ(choice.finish_reason, "length");
        EXPECT_EQ(choice.token_ids.size(), static_cast<std::size_t>(context - 3));
    }
    for (const char* body :
         {R"({"prompt": "a", "n": 9})", R"({"prompt": "a", "n": 0})",
          R"({"prompt": "a", "max_tokens": 0})", R"({"prompt": "a", "max_tokens": 2147483648})",
          R"({"prompt": "a", "timeout_s": 0})", R"({"prompt": "a", "timeout_s": 1e9})"}) {
        const auto refused =
            daemon_.client().send({.method = "POST", .target = "/v1/completions", .body = body});
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->status, 400) << body;
    }
}

class T138 : public ResumeTest {};
TEST_F(T138, CyclesOfStartAndCancelLeaveEveryPageFree) {
    auto request = completion({1, 2, 3}, 400);
    for (int cycle = 0; cycle < 200; ++cycle) {
        int left = cycle % 9;
        EXPECT_TRUE(
            daemon_.client().complete(request, [&](const protocol::Reply&) { return left-- > 0; }));
    }
    EXPECT_TRUE(becomes_true([&] {
        const auto model = daemon_.client().status()->models.at(0);
        return model.running == 0 && model.waiting == 0 && model.generations == 0 &&
               model.pages_free == model.pages_total;
    }));
    EXPECT_EQ(daemon_.client().status()->running, 0);
}

// ---- the file changes ----

class ChangingFileTest : public ::testing::Test {
protected:
    ChangingFileTest() : path_(daemon_.root() / "model.gguf") {
        std::filesystem::copy_file(tiny_model_path(), path_);
        const auto imported =
            daemon_.client().import_model({path_, "tiny", protocol::Link::in_place});
        EXPECT_TRUE(imported);
    }
    // Streams, and changes the file after the first text.
    void expect_answer_survives(const std::function<void()>& change) {
        protocol::ChatRequest request;
        request.messages = {{{"role", "user"}, {"content", "Hello"}}};
        request.options.max_tokens = 300;
        request.options.temperature = 0.0;
        request.options.ignore_end = true;
        const auto expected = daemon_.client().chat(request);
        ASSERT_TRUE(expected);
        std::string text;
        bool is_changed = false;
        const auto ended = daemon_.client().chat(request, [&](const protocol::Reply& chunk) {
            for (const auto& choice : chunk.choices) text += choice.text;
            if (!text.empty() && !std::exchange(is_changed, true)) change();
            return true;
        });
        EXPECT_TRUE(ended) << ended.error().message;
        EXPECT_EQ(text, expected->choices.at(0).text);
        EXPECT_EQ(daemon_.client().model("tiny")->state, "changed");
        ASSERT_TRUE(daemon_.client().unload("tiny"));
        const auto refused = daemon_.client().chat(request);
        ASSERT_FALSE(refused) << "a file that is not the imported one was loaded";
        EXPECT_EQ(refused.error().code, ErrorCode::not_found);
        EXPECT_THAT(refused.error().message, HasSubstr("not the one that was imported"));
    }

    RunningDaemon daemon_;
    std::filesystem::path path_;
};

class T013 : public ChangingFileTest {};
TEST_F(T013, AFileReplacedByRenameDoesNotDisturbTheAnswerAndIsNotLoadedInItsPlace) {
    expect_answer_survives([this] {
        const auto other = daemon_.root() / "other.gguf";
        std::filesystem::copy_file(tiny_model_path(), other);
        std::ofstream(other, std::ios::app) << "more";
        std::filesystem::rename(other, path_);
    });
}

class T014 : public ChangingFileTest {};
TEST_F(T014, AFileCutToFourKibibytesDoesNotDisturbTheAnswerAndIsNotLoadedAgain) {
    expect_answer_survives([this] { std::filesystem::resize_file(path_, 4096); });
}

class T015 : public ChangingFileTest {};
TEST_F(T015, AFileOverwrittenInPlaceIsNoticed) {
    expect_answer_survives([this] {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-100, std::ios::end);
        file << "other content";
    });
}

class T012 : public ::testing::Test {};
TEST_F(T012, WhatIsNoRegularFileIsRefusedAtOnce) {
    RunningDaemon daemon;
    const std::string pipe = daemon.root() / "pipe.gguf";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const std::string loop = daemon.root() / "loop.gguf";
    std::filesystem::create_symlink(loop, loop);
    for (const std::string& path : {pipe, loop, daemon.root().string(), daemon.socket(),
                                    std::string("/dev/zero"), std::string("/dev/random"),
                                    std::string("/proc/self/mem"), std::string("/proc/cpuinfo")}) {
        SCOPED_TRACE(path);
        const auto begin = std::chrono::steady_clock::now();
        const auto refused = daemon.client().import_model({path, "x", protocol::Link::in_place});
        EXPECT_FALSE(refused);
        // 100 ms on a quiet machine; one that blocks would take for ever.
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    }
    EXPECT_TRUE(daemon.client().models()->empty());
}

// ---- a worker that was taken over ----

class T159 : public ::testing::Test {};

TEST_F(T159, AHostileWorkerGetsNothingAndHarmsNobody) {
    const TempDir elsewhere;
    const std::string canary = elsewhere.file("canary");
    std::ofstream(canary) << "a secret";
    RunningDaemon daemon({.worker = HOSTILE_WORKER, .arguments = {}});
    const std::string model = daemon.root() / "evil.gguf";
    // The name tells it what to look for.
    std::ofstream(model) << R"({"kind":"model","architecture":"fake","name":")" << canary
                         << R"(","quantization":"Q4_1","context":100,"parameters":5,"tensors":3,)"
                         << R"("size":100,"has_chat_template":true,"unsupported":""})";
    const std::string id = daemon.import(model, "evil");
    ASSERT_TRUE(daemon.client().load(id));
    EXPECT_TRUE(
        becomes_true([&] { return daemon.log().find("tried everything") != std::string::npos; }));
    const std::string log = daemon.log();
    EXPECT_EQ(log.find("SUCCEEDED"), std::string::npos) << log;
    EXPECT_EQ(log.find("a secret"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(canary + ".new"));
    EXPECT_EQ(text_of(canary), "a secret");
    const protocol::Sandbox sandbox = daemon.client().status()->models.at(0).sandbox;
    EXPECT_TRUE(sandbox.seccomp);
    EXPECT_EQ(sandbox.landlock > 0, sandbox.missing.empty()) << "status tells what is not there";
    // Malformed frames of several kinds, each as the answer to a request.
    const int pid = static_cast<int>(daemon.pid());
    for (const char* attack : {"length", "kind", "json", "depth", "stray", "flood"}) {
        SCOPED_TRACE(attack);
        protocol::CompletionRequest request;
        request.prompts = {attack};
        ASSERT_TRUE(daemon.client().load(id, {.force = true}));
        const auto refused = daemon.client().complete(request);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::worker_died) << refused.error().message;
        EXPECT_TRUE(daemon.client().answers());
        EXPECT_EQ(daemon.client().status()->pid, pid);
    }
}

}  // namespace
