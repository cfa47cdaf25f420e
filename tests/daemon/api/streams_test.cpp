// Generations over HTTP: whole and streamed, several at once, cut off from either side.
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

class StreamsTest : public FakeDaemonTest {
protected:
    StreamsTest() { import_fake(); }

    // A client that asks for a stream and never reads it.
    client::Connection deaf_client(const std::string& behaviour) const {
        auto connection = client::Connection::open(daemon_.socket(), -1);
        EXPECT_TRUE(connection);
        const std::string body = R"({"stream":true,"prompt":")" + behaviour + "\"}";
        EXPECT_TRUE(
            connection->write_all("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                  std::to_string(body.size()) + "\r\n\r\n" + body));
        return *std::move(connection);
    }
    int running() const {
        const auto status = daemon_.client().status();
        return status ? status->running : -1;
    }
    std::uint64_t resident_bytes() const { return daemon_.client().status()->resident_bytes; }
};

class T080 : public StreamsTest {};
class T081 : public StreamsTest {};

TEST_F(StreamsTest, AStreamJoinsToTheWholeAnswer) {
    const auto whole = daemon_.client().complete(prompt("count 50"));
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->choices.at(0).finish_reason, "length");
    EXPECT_EQ(whole->usage->completion_tokens, 50);
    std::string joined;
    std::string finish_reason;
    const auto ended =
        daemon_.client().complete(prompt("count 50"), [&](const protocol::Reply& chunk) {
            for (const auto& choice : chunk.choices) {
                joined += choice.text;
                finish_reason += choice.finish_reason;
            }
            return true;
        });
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(joined, whole->choices.at(0).text);
    EXPECT_EQ(finish_reason, "length");
}

TEST_F(StreamsTest, IdsSeedUsageAndTimingsComeWhenAskedFor) {
    auto request = prompt("count 3");
    request.options.return_token_ids = true;
    request.options.include_usage = true;
    request.options.seed = 12345;
    const auto whole = daemon_.client().complete(request);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->prompt_token_ids, (std::vector<std::int32_t>{7, 8}));
    EXPECT_EQ(whole->choices.at(0).token_ids, (std::vector<std::int32_t>{1, 1, 1}));
    EXPECT_EQ(whole->seed, 12345U);
    EXPECT_EQ(whole->timings->generated_tokens, 3);
    std::vector<std::int32_t> ids;
    std::optional<std::vector<std::int32_t>> prompt_ids;
    std::optional<protocol::Usage> usage;
    ASSERT_TRUE(daemon_.client().complete(request, [&](const protocol::Reply& chunk) {
        if (chunk.prompt_token_ids) prompt_ids = chunk.prompt_token_ids;
        if (chunk.usage) usage = chunk.usage;
        for (const auto& choice : chunk.choices)
            ids.insert(ids.end(), choice.token_ids.begin(), choice.token_ids.end());
        return true;
    }));
    EXPECT_EQ(ids, whole->choices.at(0).token_ids);
    EXPECT_EQ(prompt_ids, whole->prompt_token_ids);
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->prompt_tokens, 2);
    EXPECT_EQ(usage->completion_tokens, 3);
}

TEST_F(StreamsTest, AMissingSeedIsDrawnAndReported) {
    const auto one = daemon_.client().complete(prompt("count 1"));
    const auto two = daemon_.client().complete(prompt("count 1"));
    ASSERT_TRUE(one && two);
    ASSERT_TRUE(one->seed && two->seed);
    EXPECT_NE(*one->seed, *two->seed);
    EXPECT_NE(one->id, two->id);
}

TEST_F(StreamsTest, SeveralChoicesComeInOneReply) {
    auto request = prompt("count 4");
    request.options.choices = 3;
    const auto whole = daemon_.client().complete(request);
    ASSERT_TRUE(whole) << whole.error().message;
    ASSERT_EQ(whole->choices.size(), 3U);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(whole->choices[static_cast<std::size_t>(i)].index, i);
        EXPECT_EQ(whole->choices[static_cast<std::size_t>(i)].text, "0 1 2 3 ");
    }
    EXPECT_EQ(whole->usage->completion_tokens, 12);
    std::array<std::string, 3> texts;
    int ends = 0;
    ASSERT_TRUE(daemon_.client().complete(request, [&](const protocol::Reply& chunk) {
        for (const auto& choice : chunk.choices) {
            texts.at(static_cast<std::size_t>(choice.index)) += choice.text;
            ends += choice.finish_reason.empty() ? 0 : 1;
        }
        return true;
    }));
    for (const std::string& text : texts) EXPECT_EQ(text, "0 1 2 3 ");
    EXPECT_EQ(ends, 3);
}

TEST_F(StreamsTest, AWorkerThatDiesGivesATypedErrorAndTheNextRequestWorks) {
    const auto whole = daemon_.client().complete(prompt("die 3"));
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().code, ErrorCode::worker_died);
    std::string text;
    const auto streamed =
        daemon_.client().complete(prompt("die 3"), [&](const protocol::Reply& chunk) {
            for (const auto& choice : chunk.choices) text += choice.text;
            return true;
        });
    ASSERT_FALSE(streamed);
    EXPECT_EQ(streamed.error().code, ErrorCode::worker_died);
    EXPECT_EQ(text, "0 1 ") << "it went on in a second worker, once";
    EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
}

TEST_F(StreamsTest, ARefusalBeforeTheFirstTokenKeepsItsStatusInAStreamToo) {
    const auto reply = send({.method = "POST",
                             .target = "/v1/completions",
                             .body = R"({"prompt":"refuse","stream":true})"});
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.header("content-type"), "application/json");
}

TEST_F(T080, AClientThatGoesEndsItsGeneration) {
    {
        const auto connection = deaf_client("silent 1");
        ASSERT_TRUE(becomes_true([&] { return running() == 1; }));
    }
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
    // Also when it waits for a whole answer.
    {
        auto connection = client::Connection::open(daemon_.socket(), -1);
        ASSERT_TRUE(connection);
        ASSERT_TRUE(
            connection->write_all("POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
                                  "Content-Length: 28\r\n\r\n"
                                  R"({"prompt":"silent 1","n":2 })"));
        ASSERT_TRUE(becomes_true([&] { return running() == 2; }));
    }
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
    const auto stopped = daemon_.client().complete(
        prompt("count 1000000"),
        [](const protocol::Reply& chunk) { return chunk.choices.empty(); });
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
}

TEST_F(StreamsTest, AnAbortDescriptorEndsACall) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    client::Client client = daemon_.client();
    client.set_abort_descriptor(ends[0]);
    std::thread other([&] {
        EXPECT_TRUE(becomes_true([&] { return running() == 1; }));
        EXPECT_EQ(::send(ends[1], "x", 1, 0), 1);
    });
    const auto reply = client.complete(prompt("silent 1"));
    other.join();
    ::close(ends[0]);
    ::close(ends[1]);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::cancelled);
    EXPECT_TRUE(becomes_true([&] { return is_idle(); }));
}

TEST_F(T081, ASlowReaderHoldsUpItselfOnly) {
    const std::uint64_t before = resident_bytes();
    const auto deaf = deaf_client("count 1000000");
    ASSERT_TRUE(becomes_true([&] { return running() == 1; }));
    // The others are served, while what waits for the deaf one stays bounded.
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(daemon_.client().complete(prompt("count 200")));
    EXPECT_EQ(running(), 1);
    EXPECT_TRUE(kSanitized || resident_bytes() < before + (8U << 20U)) << resident_bytes();
}

TEST_F(StreamsTest, AReaderThatWakesUpGetsEverything) {
    auto deaf = deaf_client("count 5000");
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(daemon_.client().complete(prompt("count 200")));
    EXPECT_EQ(running(), 1);  // it rests: 5000 chunks do not fit into the queue
    std::string text;
    std::array<char, 65536> buffer;
    ASSERT_TRUE(becomes_true([&] {
        const ssize_t got = ::recv(deaf.descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
        return text.find("[DONE]") != std::string::npos;
    }));
    EXPECT_NE(text.find("\"4999 \""), std::string::npos);
}

TEST_F(StreamsTest, ManyAtOnceAllEnd) {
    std::atomic<int> good = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 32; ++i)
        clients.emplace_back([&] {
            const auto reply = daemon_.client().complete(prompt("count 100"));
            good += reply && reply->usage->completion_tokens == 100 ? 1 : 0;
        });
    for (std::thread& one : clients) one.join();
    EXPECT_EQ(good, 32);
    EXPECT_TRUE(is_idle());
}

TEST_F(StreamsTest, AStopInMidStreamEndsItWithAnError) {
    Result<void> ended;
    std::thread reader([&] {
        ended = daemon_.client().complete(prompt("silent 1"),
                                          [](const protocol::Reply&) { return true; });
    });
    ASSERT_TRUE(becomes_true([&] { return running() == 1; }));
    EXPECT_EQ(daemon_.terminate(), 0);
    reader.join();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::shutting_down);
}

}  // namespace
