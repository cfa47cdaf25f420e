// How the daemon starts, stops, is killed and starts again. The worker is the scripted one, whose
// behaviour is the model's name or the prompt.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/daemon/api/fake_model.h"
#include "tests/system/processes.h"

using namespace hearth;
using namespace hearth::testing;
using ::testing::HasSubstr;

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

class LifeCycleTest : public FakeDaemonTest {
protected:
    // One request in a thread of its own, and how it ended.
    class Request {
    public:
        Request(const RunningDaemon& daemon, const std::string& text) {
            thread_ = std::thread([this, &daemon, text] {
                protocol::CompletionRequest request = prompt(text);
                ended_ = daemon.client().complete(request, [this](const protocol::Reply& chunk) {
                    for (const auto& choice : chunk.choices)
                        if (!choice.text.empty()) has_text_ = true;
                    return true;
                });
            });
        }
        ~Request() {
            if (thread_.joinable()) thread_.join();
        }
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;
        bool has_text() const { return has_text_; }
        Result<void> end() {
            thread_.join();
            return ended_;
        }

    private:
        Result<void> ended_;
        std::atomic<bool> has_text_ = false;
        std::thread thread_;
    };

    bool runs(int generations) const {
        return becomes_true([&] { return daemon_.client().status()->running == generations; });
    }
    int worker_pid() const { return daemon_.client().status()->models.at(0).pid; }
    void expect_clean_end(Clock::time_point begin, int exit_code) const {
        EXPECT_EQ(exit_code, 0);
        EXPECT_LT(since(begin), std::chrono::milliseconds(5000));
        EXPECT_FALSE(std::filesystem::exists(daemon_.socket()));
    }
};

class T146 : public LifeCycleTest {};

TEST_F(T146, SigtermWhenIdle) {
    const auto begin = Clock::now();
    expect_clean_end(begin, daemon_.terminate());
}

TEST_F(T146, SigtermWhileAModelLoads) {
    daemon_.import(fake_model_file(daemon_, "hang"));
    Request waiting(daemon_, "count 1");
    EXPECT_TRUE(runs(1));
    const auto begin = Clock::now();
    expect_clean_end(begin, daemon_.terminate());
    EXPECT_EQ(waiting.end().error().code, ErrorCode::shutting_down);
}

TEST_F(T146, SigtermWhileAPromptIsReadAndWhileAnAnswerStreams) {
    import_fake();
    Request streaming(daemon_, "count 100000000");
    EXPECT_TRUE(becomes_true([&] { return streaming.has_text(); }));
    Request reading(daemon_, "silent 1");
    EXPECT_TRUE(runs(2));
    const auto begin = Clock::now();
    expect_clean_end(begin, daemon_.terminate());
    EXPECT_EQ(streaming.end().error().code, ErrorCode::shutting_down);
    EXPECT_EQ(reading.end().error().code, ErrorCode::shutting_down);
}

class T147 : public LifeCycleTest {};

TEST_F(T147, SigtermWithAStoppedWorker) {
    import_fake();
    Request reading(daemon_, "silent 1");
    EXPECT_TRUE(runs(1));
    EXPECT_TRUE(becomes_true([&] { return worker_pid() > 0; }));
    const int worker = worker_pid();
    ::kill(worker, SIGSTOP);
    const auto begin = Clock::now();
    expect_clean_end(begin, daemon_.terminate());
    EXPECT_EQ(reading.end().error().code, ErrorCode::shutting_down);
    EXPECT_TRUE(is_gone(worker));
}

TEST_F(T147, ASecondSignalWaitsForNothing) {
    for (const int second : {SIGTERM, SIGINT, SIGHUP}) {
        if (second != SIGTERM)
            daemon_.start_again();
        else
            import_fake();
        ASSERT_TRUE(daemon_.client().complete(prompt("count 1")));
        const int worker = worker_pid();
        ::kill(worker, SIGSTOP);
        const auto begin = Clock::now();
        ::kill(daemon_.pid(), SIGTERM);
        EXPECT_TRUE(becomes_true([&] { return !daemon_.client().answers(); }));
        ::kill(daemon_.pid(), second);
        EXPECT_EQ(daemon_.wait(), 0);
        EXPECT_LT(since(begin), std::chrono::milliseconds(2500)) << "it waited for the worker";
        EXPECT_TRUE(becomes_true([&] { return is_gone(worker); }));
    }
}

class T148 : public LifeCycleTest {};

TEST_F(T148, AKilledDaemonLeavesNoWorkerAndTheNextOneStartsAtOnce) {
    import_fake();
    Request streaming(daemon_, "count 100000000");
    EXPECT_TRUE(becomes_true([&] { return streaming.has_text(); }));
    const int worker = worker_pid();
    auto begin = Clock::now();
    daemon_.kill_hard();
    EXPECT_TRUE(becomes_true([&] { return is_gone(worker); }));
    EXPECT_LT(since(begin), std::chrono::milliseconds(1000));
    EXPECT_EQ(streaming.end().error().code, ErrorCode::io_failed);
    EXPECT_TRUE(std::filesystem::exists(daemon_.socket())) << "nobody could remove it";
    begin = Clock::now();
    daemon_.start_again();
    EXPECT_LT(since(begin), std::chrono::milliseconds(1000));
    EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
}

class T150 : public LifeCycleTest {};

TEST_F(T150, AProcessWhoseNumberStandsInAStaleLockGetsNoSignal) {
    daemon_.kill_hard();
    const pid_t bystander = ::fork();
    if (bystander == 0) {
        ::pause();
        _exit(0);
    }
    std::ofstream(daemon_.socket() + ".lock") << bystander << "\n";
    daemon_.start_again();
    EXPECT_EQ(daemon_.terminate(), 0);
    EXPECT_EQ(::waitpid(bystander, nullptr, WNOHANG), 0) << "it was ended";
    ::kill(bystander, SIGKILL);
    ::waitpid(bystander, nullptr, 0);
}

class T152 : public LifeCycleTest {};

TEST_F(T152, OfTwentyDaemonsStartedAtOnceOneWins) {
    ASSERT_EQ(daemon_.terminate(), 0);
    std::vector<pid_t> started;
    for (int i = 0; i < 20; ++i) started.push_back(daemon_.spawn_another());
    EXPECT_TRUE(becomes_true([&] { return daemon_.client().answers(); }));
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    for (const pid_t pid : started) {
        if (pid == status->pid) continue;
        int result = 0;
        ::waitpid(pid, &result, 0);
        EXPECT_TRUE(WIFEXITED(result));
        EXPECT_EQ(WEXITSTATUS(result), 3);
    }
    ASSERT_TRUE(daemon_.client().shutdown());
    int result = 0;
    ::waitpid(status->pid, &result, 0);
    EXPECT_EQ(WEXITSTATUS(result), 0);
}

class T022 : public LifeCycleTest {};

TEST_F(T022, AQuarantineIsShownKeptOverARestartAndLiftedByRemovalOnly) {
    const std::string file = fake_model_file(daemon_, "die");
    const std::string id = daemon_.import(file);
    import_fake();
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(daemon_.client().load(id).error().code, ErrorCode::worker_died);
    protocol::CompletionRequest request = prompt("count 1");
    request.options.model = id;
    for (const bool restarted : {false, true}) {
        SCOPED_TRACE(restarted);
        const auto refused = daemon_.client().complete(request);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::quarantined);
        EXPECT_THAT(refused.error().message, HasSubstr("--force"));
        EXPECT_EQ(send({.method = "POST", .target = "/hearth/v1/models/" + id + "/load"}).status,
                  422);
        EXPECT_THAT(daemon_.client().model(id)->quarantined, HasSubstr("signal 9"));
        ASSERT_EQ(daemon_.client().status()->quarantined.size(), 1U);
        EXPECT_EQ(daemon_.client().status()->quarantined[0].id, id);
        EXPECT_TRUE(daemon_.client().status()->models.empty()) << "it was loaded by itself";
        if (restarted) break;
        EXPECT_EQ(daemon_.terminate(), 0);
        daemon_.start_again();
    }
    EXPECT_EQ(daemon_.client().load(id, {.force = true}).error().code, ErrorCode::worker_died);
    EXPECT_EQ(daemon_.client().load(id).error().code, ErrorCode::quarantined);
    ASSERT_TRUE(daemon_.client().remove_model(id));
    EXPECT_EQ(daemon_.import(file), id);
    EXPECT_EQ(daemon_.client().model(id)->quarantined, "");
    EXPECT_EQ(daemon_.client().load(id).error().code, ErrorCode::worker_died)
        << "it is tried again";
}

class T153 : public LifeCycleTest {};

TEST_F(T153, AStartThatFailsAgainAndAgainTouchesNothing) {
    import_fake();
    ASSERT_EQ(daemon_.terminate(), 0);
    const std::string database = daemon_.root() / "DATA/hearth/hearth.db";
    const auto before = std::filesystem::last_write_time(database);
    const auto content = text_of(database);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(daemon_.run_another({"--max-loaded", "none"}), 2);
    EXPECT_EQ(std::filesystem::last_write_time(database), before);
    EXPECT_EQ(text_of(database), content);
    daemon_.start_again();
    EXPECT_TRUE(daemon_.client().status()->models.empty()) << "a start loads no model";
}

class T140 : public FakeDaemonTest {};

TEST_F(T140, ARequestThatTakesTooLongIsA504AndItsWorkStops) {
    import_fake();
    const auto reply = send({.method = "POST",
                             .target = "/v1/completions",
                             .body = R"({"prompt": "silent 1", "timeout_s": 0.2})"});
    EXPECT_EQ(reply.status, 504);
    EXPECT_THAT(reply.body, HasSubstr("timed_out"));
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
    EXPECT_TRUE(becomes_true([&] { return daemon_.client().status()->models.at(0).running == 0; }));
    auto request = prompt("count 100000000");
    request.options.timeout_s = 0.3;
    const auto ended =
        daemon_.client().complete(request, [](const protocol::Reply&) { return true; });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::timed_out);
}

TEST(T140Setting, TheDaemonsOwnLimitHoldsWhereARequestNamesNone) {
    RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {"--request-time", "0.2"}});
    daemon.import(fake_model_file(daemon, "fake"));
    protocol::CompletionRequest request;
    request.prompts = {"silent 1"};
    EXPECT_EQ(daemon.client().complete(request).error().code, ErrorCode::timed_out);
}

class T131 : public ::testing::Test {};

TEST_F(T131, WhatIsBeyondTheQueueIs429WithRetryAfterAndTheRestFinishes) {
    RunningDaemon daemon(
        {.worker = FAKE_WORKER, .arguments = {"--max-sequences", "3", "--max-waiting", "2"}});
    daemon.import(fake_model_file(daemon, "fake"));
    protocol::CompletionRequest request;
    request.prompts = {"silent 1"};
    request.options.choices = 5;
    std::thread holder([&] {
        EXPECT_FALSE(
            daemon.client().complete(request, [](const protocol::Reply&) { return true; }));
    });
    EXPECT_TRUE(becomes_true([&] { return daemon.client().status()->running == 5; }));
    const auto begin = Clock::now();
    const auto reply = daemon.client().send(
        {.method = "POST", .target = "/v1/completions", .body = R"({"prompt": "count 1"})"});
    EXPECT_LT(since(begin), std::chrono::milliseconds(1000));  // 50 ms, on a quiet machine
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 429);
    EXPECT_EQ(reply->header("retry-after"), "1");
    EXPECT_THAT(reply->body, HasSubstr("5 generations"));
    ASSERT_TRUE(daemon.client().unload("fake"));  // ends the holder
    holder.join();
    request.prompts = {"count 3"};
    EXPECT_TRUE(daemon.client().complete(request));
}

TEST_F(T131, OfAsManyClientsAsMayConnectEachGetsAnAnswerOrIsToldToComeBack) {
    RunningDaemon daemon(
        {.worker = FAKE_WORKER, .arguments = {"--max-sequences", "40", "--max-waiting", "24"}});
    daemon.import(fake_model_file(daemon, "fake"));
    const std::string body = R"({"prompt": "count 30"})";
    const std::string request =
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    std::vector<client::Connection> clients;
    for (int i = 0; i < 500; ++i) {
        auto opened = client::Connection::open(daemon.socket(), -1);
        ASSERT_TRUE(opened);
        clients.push_back(*std::move(opened));
    }
    for (client::Connection& client : clients) ASSERT_TRUE(client.write_all(request));
    int answered = 0;
    int refused = 0;
    for (client::Connection& client : clients) {
        std::string reply;
        std::array<char, 4096> buffer;
        pollfd wait{client.descriptor(), POLLIN, 0};
        while (::poll(&wait, 1, 20'000) > 0) {
            const ssize_t got = ::read(client.descriptor(), buffer.data(), buffer.size());
            if (got <= 0) break;
            reply.append(buffer.data(), static_cast<std::size_t>(got));
        }
        if (reply.starts_with("HTTP/1.1 200")) {
            EXPECT_THAT(reply, HasSubstr("28 29 "));
            ++answered;
        } else {
            EXPECT_TRUE(reply.starts_with("HTTP/1.1 429")) << reply.substr(0, 200);
            EXPECT_THAT(reply, HasSubstr("\r\nRetry-After: 1\r\n"));
            ++refused;
        }
    }
    EXPECT_GE(answered, 64);
    EXPECT_EQ(answered + refused, 500);
    EXPECT_TRUE(becomes_true([&] { return daemon.client().status()->running == 0; }));
}

// ---- the configuration file ----

class T154 : public LifeCycleTest {
protected:
    // What a start with this file says.
    std::string complaint(const std::string& content, mode_t mode = 0600) {
        const std::string folder = daemon_.root() / "CONFIG/hearth";
        std::filesystem::create_directories(folder);
        const std::string path = folder + "/config.toml";
        std::filesystem::remove(path);
        std::ofstream(path) << content;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        const std::string errors = daemon_.root() / "stderr";
        const std::size_t before = text_of(errors).size();
        EXPECT_EQ(daemon_.run_another(), 2);
        std::string said = text_of(errors).substr(before);
        EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
        std::filesystem::remove(path);
        return said;
    }
};

TEST_F(T154, AWrongFileIsRefusedWithTheLineAndNothingOfItHolds) {
    EXPECT_THAT(complaint("max_loaded = 3\nidle_unload = \n"), HasSubstr("config.toml:2"));
    EXPECT_THAT(complaint("max_loaded = 3\n\nno_such = 1\n"), HasSubstr("config.toml:3"));
    EXPECT_THAT(complaint("max_loaded = \"many\"\n"), HasSubstr("config.toml:1"));
    EXPECT_THAT(complaint("max_loaded = [1]\n"), HasSubstr("config.toml:1"));
    EXPECT_THAT(complaint("[daemon]\nmax_loaded = 1\n"), HasSubstr("config.toml:1"));
    EXPECT_THAT(complaint("max_loaded = 1\nmax_loaded = 2\n"), HasSubstr("config.toml:2"));
    EXPECT_THAT(complaint("log_level = \"\xff\"\n"), HasSubstr("config.toml:1"));
}

TEST_F(T154, AFileThatOthersMayWriteIsRefused) {
    EXPECT_THAT(complaint("max_loaded = 3\n", 0666), HasSubstr("chmod go-w"));
    EXPECT_THAT(complaint("max_loaded = 3\n", 0620), HasSubstr("chmod go-w"));
}

TEST_F(T154, AHugeFileIsRefusedUnread) {
    EXPECT_THAT(complaint(std::string(100U << 20U, '#')), HasSubstr("at most"));
}

TEST_F(T154, AFileThatCannotBeReadIsRefused) {
    if (::geteuid() == 0) {  // root reads everything: a folder in its place then
        const std::string path = daemon_.root() / "CONFIG/hearth/config.toml";
        std::filesystem::create_directories(path);
        EXPECT_EQ(daemon_.run_another(), 2);
        std::filesystem::remove(path);
        return;
    }
    EXPECT_THAT(complaint("max_loaded = 3\n", 0000), HasSubstr("cannot be read"));
}

// ---- what others may see of our memory ----

TEST(T160, NeitherProcessLeavesACoreFileOrTakesADebugger) {
    RunningDaemon daemon;
    daemon.import(tiny_model_path(), "tiny");
    ASSERT_TRUE(daemon.client().load("tiny"));
    for (const int pid :
         {static_cast<int>(daemon.pid()), daemon.client().status()->models[0].pid}) {
        const std::string proc = "/proc/" + std::to_string(pid);
        EXPECT_THAT(text_of(proc + "/limits"),
                    ::testing::ContainsRegex("Max core file size +0 +0 +bytes"));
        // The kernel gives the entries of a process that is closed to debuggers to root. Root
        // itself sees no difference.
        struct stat facts{};
        ASSERT_EQ(::stat((proc + "/environ").c_str(), &facts), 0);
        EXPECT_EQ(facts.st_uid, 0U);
    }
    EXPECT_GT(daemon.client().status()->models[0].private_bytes, 0U) << "we may still count it";
}

}  // namespace
