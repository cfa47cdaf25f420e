// The same with a real model, where it is there: many streams, a killed worker, a client that goes.
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "ipc/protocol/fields.h"
#include "tests/support/paths.h"
#include "tests/system/running_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

using Ids = std::vector<std::int32_t>;

class RealModelSystemTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        if (real_model_path().empty()) return;
        daemon_ = std::make_unique<RunningDaemon>();
        daemon_->import(real_model_path(), "real");
    }
    static void TearDownTestSuite() { daemon_.reset(); }
    void SetUp() override {
        if (!daemon_) GTEST_SKIP() << kNoRealModel;
    }

    static protocol::ChatRequest chat(const std::string& text, int max_tokens) {
        protocol::ChatRequest request;
        request.messages = {{{"role", "user"}, {"content", text}}};
        request.options.max_tokens = max_tokens;
        request.options.return_token_ids = true;
        return request;
    }
    static Ids stream(const protocol::ChatRequest& request) {
        Ids ids;
        const auto ended = daemon_->client().chat(request, [&](const protocol::Reply& chunk) {
            for (const auto& choice : chunk.choices)
                ids.insert(ids.end(), choice.token_ids.begin(), choice.token_ids.end());
            return true;
        });
        EXPECT_TRUE(ended) << ended.error().message;
        return ids;
    }

    static inline std::unique_ptr<RunningDaemon> daemon_;
};

TEST_F(RealModelSystemTest, PromptIdsAreThoseOfTheReference) {
    const auto cases =
        protocol::parse_json(text_of(test_data("references/smollm2-135m-instruct/greedy.json")));
    ASSERT_TRUE(cases);
    ASSERT_GE(cases->as_array().size(), 20U);
    for (const auto& one : cases->as_array()) {
        SCOPED_TRACE(std::string(one.at("name").as_string()));
        protocol::ChatRequest request = chat("", 1);
        request.messages = one.at("messages").as_array();
        const auto reply = daemon_->client().chat(request);
        ASSERT_TRUE(reply) << reply.error().message;
        Ids expected;
        for (const auto& id : one.at("prompt_ids").as_array())
            expected.push_back(static_cast<std::int32_t>(id.as_int64()));
        EXPECT_EQ(reply->prompt_token_ids, expected);
    }
}

TEST_F(RealModelSystemTest, SixteenStreamsAtOnceEqualTheSameOneByOne) {
    const char* questions[] = {"Why is the sky blue?", "Name three rivers.",
                               "Write a short poem about the sea.", "What is two plus two?"};
    std::vector<protocol::ChatRequest> requests;
    for (std::size_t i = 0; i < 16; ++i) {
        auto request = chat(questions[i % 4], 24);
        request.options.temperature = i < 4 ? 0.0 : 0.8;
        request.options.seed = i;
        requests.push_back(request);
    }
    std::vector<Ids> alone;
    for (const auto& request : requests) alone.push_back(stream(request));
    std::vector<Ids> together(requests.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i)
        threads.emplace_back([&, i] { together[i] = stream(requests[i]); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(together, alone);
    for (const Ids& ids : alone) EXPECT_FALSE(ids.empty());
}

TEST_F(RealModelSystemTest, AKilledWorkerIsNotSeenInTheAnswer) {
    auto request = chat("Write a long story.", 120);
    request.options.temperature = 0.0;
    const Ids expected = stream(request);
    const int pid = daemon_->client().status()->models.at(0).pid;
    bool killed = false;
    Ids ids;
    const auto ended = daemon_->client().chat(request, [&](const protocol::Reply& chunk) {
        for (const auto& choice : chunk.choices)
            ids.insert(ids.end(), choice.token_ids.begin(), choice.token_ids.end());
        if (ids.size() > 10 && !std::exchange(killed, true)) ::kill(pid, SIGKILL);
        return true;
    });
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ids, expected);
    EXPECT_NE(daemon_->client().status()->models.at(0).pid, pid);
}

TEST_F(RealModelSystemTest, AClientThatGoesInMidStreamFreesItsState) {
    const auto ended =
        daemon_->client().chat(chat("Write a long story.", 2000), [](const protocol::Reply& chunk) {
            return chunk.choices.empty() || chunk.choices[0].text.empty();
        });
    EXPECT_TRUE(ended);
    EXPECT_TRUE(becomes_true([] {
        const auto status = daemon_->client().status();
        return status && status->running == 0 && status->models.at(0).running == 0 &&
               status->models.at(0).pages_free == status->models.at(0).pages_total;
    }));
}

}  // namespace
