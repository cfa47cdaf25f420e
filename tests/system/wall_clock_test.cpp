// A wall clock that jumps by days, both ways, in the daemon (wall_clock.cpp is preloaded there).
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

constexpr std::int64_t kDay = 86400;

std::int64_t seconds_since_1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

class T143 : public ::testing::Test {
protected:
    void SetUp() override {
        if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first that is loaded";
        jump_to(0);
        ::setenv("WALL_CLOCK_OFFSET", path_.c_str(), 1);
        ::setenv("LD_PRELOAD", WALL_CLOCK, 1);
        daemon_ = std::make_unique<RunningDaemon>(
            DaemonOptions{.worker = FAKE_WORKER, .arguments = {"--idle-unload", "3600"}});
        ::unsetenv("LD_PRELOAD");
        ::unsetenv("WALL_CLOCK_OFFSET");
        daemon_->import(fake_model_file(*daemon_, "fake"));
    }
    void jump_to(std::int64_t seconds) const {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        if (!file) file.open(path_, std::ios::out | std::ios::binary);
        // The bytes as they lie in memory: the file is mapped.
        // reinterpret_cast: a number as bytes.
        file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
    }
    static protocol::CompletionRequest prompt(const std::string& behaviour) {
        protocol::CompletionRequest request;
        request.prompts = {behaviour};
        return request;
    }
    // Asks on a connection that stays open.
    static bool is_answered(client::Connection& connection) {
        std::string reply;
        std::array<char, 4096> buffer;
        pollfd wait{connection.descriptor(), POLLIN, 0};
        if (!connection.write_all("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")) return false;
        while (!reply.ends_with('}') && ::poll(&wait, 1, 10'000) > 0) {
            const ssize_t got = ::read(wait.fd, buffer.data(), buffer.size());
            if (got <= 0) return false;
            reply.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return reply.starts_with("HTTP/1.1 200");
    }
    const client::Client& client() const { return daemon_->client(); }

    TempDir dir_;
    std::string path_ = dir_.file("offset");
    std::unique_ptr<RunningDaemon> daemon_;
};

TEST_F(T143, AnAnswerInProgressAConnectionAndALoadedModelOutliveTheJumps) {
    auto connection = client::Connection::open(daemon_->socket(), -1);
    ASSERT_TRUE(connection);
    ASSERT_TRUE(is_answered(*connection));
    int chunks = 0;
    const auto reply = client().complete(prompt("count 3000"), [&](const protocol::Reply&) {
        ++chunks;
        if (chunks == 10) jump_to(kDay);
        if (chunks == 1000) jump_to(-kDay);
        return true;
    });
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_GE(chunks, 3000);
    // The connection rested through both jumps; the model was not "unused for a day".
    EXPECT_TRUE(is_answered(*connection));
    const auto status = client().status();
    ASSERT_TRUE(status);
    ASSERT_EQ(status->models.size(), 1U);
    EXPECT_EQ(status->models[0].state, "ready");
    EXPECT_LT(status->uptime_s, 3600.0);
    EXPECT_GE(status->uptime_s, 0.0);
}

TEST_F(T143, LimitsOfTimeCountTheTimeThatPasses) {
    for (const std::int64_t offset : {kDay, -kDay}) {
        jump_to(offset);
        std::int64_t created = 0;
        const auto whole = client().complete(prompt("count 3"), [&](const protocol::Reply& chunk) {
            created = chunk.created;
            return true;
        });
        ASSERT_TRUE(whole);
        // The preloaded clock is the one that the daemon reads.
        EXPECT_NEAR(static_cast<double>(created - seconds_since_1970()),
                    static_cast<double>(offset), 60.0);
        auto silent = prompt("silent 1");
        silent.options.timeout_s = 0.2;
        const auto begin = std::chrono::steady_clock::now();
        const auto ended = client().complete(silent, [](const auto&) { return true; });
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().code, ErrorCode::timed_out);
        EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
    }
}

}  // namespace
