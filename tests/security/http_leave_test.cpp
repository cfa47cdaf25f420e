// Clients that leave a real model at every stage of their request: its work stops and its places
// are free again.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "tests/security/tcp_daemon.h"
#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

enum Way { fin, rst, half_close };

class T080 : public ::testing::Test {
protected:
    T080() { daemon_.running().import(tiny_model_path(), "tiny"); }

    std::string request(bool stream, const std::string& prompt) const {
        const std::string body = R"({"max_tokens":200,"ignore_eos":true,"stream":)" +
                                 std::string(stream ? "true" : "false") + R"(,"prompt":")" +
                                 prompt + "\"}";
        return daemon_.head("POST", "/v1/completions") +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    static void leave(RawSocket& socket, Way way) {
        if (way == fin) socket.close();
        if (way == rst) socket.reset();
        if (way == half_close) ::shutdown(socket.descriptor(), SHUT_WR);
    }
    // The model as the status shows it; empty when it is not loaded.
    protocol::LoadedModel model() const {
        const auto status = daemon_.client().status();
        EXPECT_TRUE(status);
        return status && !status->models.empty() ? status->models.front() : protocol::LoadedModel();
    }
    bool is_idle() const {
        const auto status = daemon_.client().status();
        return status && status->running == 0 && model().running == 0 && model().waiting == 0;
    }

    TcpDaemon daemon_{{"--max-sequences", "1"}, ""};
};

TEST_F(T080, WorkStopsAtWhateverStageItsClientGoes) {
    for (const bool stream : {true, false})
        for (const Way way : {fin, rst, half_close})
            for (const std::size_t bytes : {0U, 1U, 400U, 4000U}) {
                SCOPED_TRACE(std::to_string(static_cast<int>(stream)) + " " + std::to_string(way) +
                             " " + std::to_string(bytes));
                // Every first one leaves while the model is being loaded.
                if (bytes == 0) (void)daemon_.client().unload("tiny");
                RawSocket socket = daemon_.connect();
                ASSERT_TRUE(socket.write(request(stream, "once upon a time")));
                std::array<char, 4000> buffer{};
                std::size_t got = 0;
                while (stream && got < bytes) {
                    const ssize_t more = ::recv(socket.descriptor(), buffer.data(), bytes - got, 0);
                    ASSERT_GT(more, 0);
                    got += static_cast<std::size_t>(more);
                }
                leave(socket, way);
                EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
            }
    // Nothing is left running: the counter of tokens stands still over a whole other request.
    const auto before = model().generated_tokens;
    protocol::CompletionRequest one;
    one.prompts = {"hello"};
    one.options.max_tokens = 3;
    one.options.ignore_end = true;
    ASSERT_TRUE(daemon_.client().complete(one));
    EXPECT_TRUE(becomes_true([&] { return model().generated_tokens >= before + 3; }));
    EXPECT_EQ(model().generated_tokens, before + 3);
}

TEST_F(T080, WhoLeavesTheQueueIsNeverStarted) {
    // The first takes the only place and keeps it: its answer fills every buffer, and it rests.
    RawSocket first = daemon_.connect();
    const std::string body = R"({"max_tokens":200,"ignore_eos":true,"stream":true,"n":8,)"
                             R"("logprobs":20,"prompt":"once upon a time"})";
    ASSERT_TRUE(first.write(daemon_.head("POST", "/v1/completions") +
                            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
    ASSERT_TRUE(becomes_true([&] { return model().running == 1; }));
    {
        RawSocket second = daemon_.connect();
        ASSERT_TRUE(second.write(request(false, std::string(60, 'z'))));
        ASSERT_TRUE(becomes_true([&] { return daemon_.client().status()->running == 9; }));
    }
    EXPECT_TRUE(becomes_true([&] { return daemon_.client().status()->running == 8; }));
    first.close();
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
    // Eight times the first prompt at most, or once where they share it: never the second's 60.
    protocol::CompletionRequest last;
    last.prompts = {"hello"};
    last.options.max_tokens = 3;
    last.options.ignore_end = true;
    const auto before = model().prompt_tokens;
    ASSERT_TRUE(daemon_.client().complete(last));
    ASSERT_TRUE(becomes_true([&] { return model().prompt_tokens > before; }));
    EXPECT_LT(model().prompt_tokens - before, 10U);
    EXPECT_LE(before, 8U * 20U);
}

}  // namespace
