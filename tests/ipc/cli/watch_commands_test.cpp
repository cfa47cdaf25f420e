// `hearth status --watch` and `hearth logs` as programs: from a pipe, on a terminal, until Ctrl-C.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include "ipc/protocol/fields.h"
#include "tests/system/running_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

// `hearth` with its output in a pipe or on a pseudo-terminal.
class Program {
public:
    Program(const RunningDaemon& daemon, std::vector<std::string> words, bool on_terminal = false) {
        const std::string socket = "HEARTH_SOCKET=" + daemon.socket();
        const std::string state = "XDG_STATE_HOME=" + (daemon.root() / "STATE").string();
        words.insert(words.begin(), {"env", socket, state, HEARTH_BIN_DIR "/hearth"});
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        int child_end = -1;
        if (on_terminal) {
            winsize size{24, 80, 0, 0};
            EXPECT_EQ(::openpty(&output_, &child_end, nullptr, nullptr, &size), 0);
            ::fcntl(output_, F_SETFD, FD_CLOEXEC);
        } else {
            std::array<int, 2> ends{};
            EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
            output_ = ends[0];
            child_end = ends[1];
        }
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(child_end, 1);
            ::close(child_end);
            ::execv("/usr/bin/env", arguments.data());
            ::_exit(127);
        }
        ::close(child_end);
    }
    ~Program() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(output_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Reads until the output holds the words, at most 20 s.
    bool says(const std::string& words) {
        return becomes_true([&] { return has_said(words); });
    }
    bool has_said(const std::string& words) {
        read_some();
        return text_.find(words) != std::string::npos;
    }
    void interrupt() const { ::kill(pid_, SIGINT); }
    int exit_code() {
        int status = 0;
        const bool ended = becomes_true([&] {
            read_some();
            return ::waitpid(pid_, &status, WNOHANG) == pid_;
        });
        read_some();
        if (!ended) return -1;
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    const std::string& text() const { return text_; }

private:
    void read_some() {
        std::array<char, 65536> buffer;
        pollfd wait{output_, POLLIN, 0};
        while (::poll(&wait, 1, 0) > 0) {
            const ssize_t got = ::read(output_, buffer.data(), buffer.size());
            if (got <= 0) return;
            text_.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }

    int output_ = -1;
    pid_t pid_ = 0;
    std::string text_;
};

class WatchTest : public ::testing::Test {
protected:
    WatchTest() { daemon_.import(tiny_model_path(), "tiny"); }
    void complete() const {
        protocol::CompletionRequest request;
        request.prompts = {"The sea is"};
        request.options.max_tokens = 5;
        request.options.client = "somebody";
        EXPECT_TRUE(daemon_.client().complete(request));
    }

    RunningDaemon daemon_;
};

TEST_F(WatchTest, APipeGetsOneLineForEachChangeUntilTheDaemonEnds) {
    Program watch(daemon_, {"status", "--watch"});
    ASSERT_TRUE(watch.says("models: 1 installed"));
    complete();
    EXPECT_TRUE(watch.says("tiny: ready\n"));
    EXPECT_TRUE(watch.says("#1 tiny for somebody: length, "));
    EXPECT_EQ(daemon_.terminate(), 0);
    EXPECT_EQ(watch.exit_code(), 0);
    EXPECT_NE(watch.text().find("hearthd is stopping\n"), std::string::npos) << watch.text();
    EXPECT_EQ(watch.text().find('\x1b'), std::string::npos);
}

TEST_F(WatchTest, JsonIsOneObjectForEachEvent) {
    Program watch(daemon_, {"status", "--watch", "--json"});
    ASSERT_TRUE(watch.says("\"snapshot\""));
    complete();
    EXPECT_TRUE(watch.says("generation_ended"));
    EXPECT_TRUE(watch.says("\"event\":\"metrics\""));
    EXPECT_EQ(daemon_.terminate(), 0);
    EXPECT_EQ(watch.exit_code(), 0);
    std::istringstream lines(watch.text());
    std::uint64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto event = protocol::parse_json(line);
        ASSERT_TRUE(event) << line;
        EXPECT_TRUE(event->at("data").is_object());
        const auto* id = event->as_object().if_contains("id");
        if (id == nullptr) continue;
        EXPECT_GT(id->to_number<std::uint64_t>(), number);
        number = id->to_number<std::uint64_t>();
    }
}

TEST_F(WatchTest, ATerminalGetsATableAndIsLeftAsItWas) {
    Program watch(daemon_, {"status", "--watch"}, true);
    ASSERT_TRUE(watch.says("0.0 tokens/s"));
    complete();
    EXPECT_TRUE(watch.says("MODEL"));
    EXPECT_TRUE(watch.says("somebody"));
    watch.interrupt();
    EXPECT_EQ(watch.exit_code(), 0);
    EXPECT_TRUE(watch.text().starts_with("\x1b[?1049h"));
    EXPECT_TRUE(watch.text().ends_with("\x1b[?25h\x1b[?1049l")) << watch.text();
}

TEST_F(WatchTest, WithoutADaemonItSaysSo) {
    EXPECT_EQ(daemon_.terminate(), 0);
    Program watch(daemon_, {"status", "--watch"});
    EXPECT_EQ(watch.exit_code(), 1);
    Program logs(daemon_, {"logs", "-n", "1"});
    EXPECT_EQ(logs.exit_code(), 0) << "the log is there";
    EXPECT_NE(logs.text().find("hearthd has stopped"), std::string::npos) << logs.text();
    std::filesystem::remove_all(daemon_.root() / "STATE/hearth/logs");
    Program nothing(daemon_, {"logs"});
    EXPECT_EQ(nothing.exit_code(), 1);
    daemon_.start_again();
}

TEST_F(WatchTest, LogsAreShownByLevelAndFollowed) {
    const auto log = daemon_.root() / "STATE/hearth/logs/hearthd.log";
    std::ofstream(log, std::ios::app) << "2026-01-31 23:59:59.123 W a warning \x1b[31m\n";
    Program warnings(daemon_, {"logs", "--level", "warning"});
    EXPECT_EQ(warnings.exit_code(), 0);
    EXPECT_EQ(warnings.text(), "2026-01-31 23:59:59.123 W a warning \\x1b[31m\n");
    Program follow(daemon_, {"logs", "-n", "0", "-f"});
    // Nothing tells when it has begun; what comes after that moment is shown.
    EXPECT_TRUE(becomes_true([&] {
        std::ofstream(log, std::ios::app) << "2026-01-31 23:59:59.124 I news\n";
        ::poll(nullptr, 0, 50);
        return follow.has_said("I news");
    }));
    follow.interrupt();
    EXPECT_EQ(follow.exit_code(), 0);
    EXPECT_EQ(Program(daemon_, {"logs", "--level", "loud"}).exit_code(), 2);
}

}  // namespace
