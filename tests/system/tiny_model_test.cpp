// The whole path with real processes and the tiny model: hearthd, hearth-worker, HTTP.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/support/paths.h"
#include "tests/system/tiny_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

using Ids = std::vector<std::int32_t>;

class TinyModelTest : public TinyDaemonTest {
protected:
    static protocol::ChatRequest chat(const std::string& text, int max_tokens = 24) {
        protocol::ChatRequest request;
        request.messages = {{{"role", "user"}, {"content", text}}};
        request.options.max_tokens = max_tokens;
        request.options.temperature = 0.0;
        request.options.return_token_ids = true;
        request.options.ignore_end = true;
        return request;
    }
    struct Streamed {
        Result<void> ended;
        std::string text;
        Ids ids;
        std::string finish_reason;
        int chunks = 0;
    };
    static Streamed stream(const protocol::ChatRequest& request) {
        Streamed got;
        got.ended = client().chat(request, [&](const protocol::Reply& chunk) {
            for (const auto& choice : chunk.choices) {
                got.text += choice.text;
                got.ids.insert(got.ids.end(), choice.token_ids.begin(), choice.token_ids.end());
                got.finish_reason += choice.finish_reason;
            }
            ++got.chunks;
            return true;
        });
        return got;
    }
    static protocol::Status status() {
        auto got = client().status();
        EXPECT_TRUE(got);
        return got ? *std::move(got) : protocol::Status{};
    }
    static bool is_idle() {
        const auto now = status();
        return now.running == 0 && (now.models.empty() || now.models[0].running == 0);
    }
};

TEST_F(TinyModelTest, TheModelIsListedWithWhatIsInItsFile) {
    const auto model = client().model("tiny");
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->architecture, "llama");
    EXPECT_GT(model->context, 0);
    EXPECT_TRUE(model->has_chat_template);
    EXPECT_EQ(model->unsupported, "");
    EXPECT_EQ(model->size, std::filesystem::file_size(tiny_model_path()));
}

TEST_F(TinyModelTest, AStreamedChatEqualsTheWholeOne) {
    const auto whole = client().chat(chat("Why is the sky blue?"));
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->choices.at(0).finish_reason, "length");
    EXPECT_EQ(whole->choices.at(0).token_ids.size(), 24U);
    EXPECT_EQ(whole->usage->completion_tokens, 24);
    EXPECT_EQ(whole->usage->prompt_tokens, static_cast<int>(whole->prompt_token_ids->size()));
    EXPECT_GT(whole->timings->prompt_ms, 0.0);
    EXPECT_GT(whole->timings->generation_ms, 0.0);
    const Streamed streamed = stream(chat("Why is the sky blue?"));
    ASSERT_TRUE(streamed.ended) << streamed.ended.error().message;
    EXPECT_EQ(streamed.text, whole->choices.at(0).text);
    EXPECT_EQ(streamed.ids, whole->choices.at(0).token_ids);
    EXPECT_EQ(streamed.finish_reason, "length");
    EXPECT_GT(streamed.chunks, 10);
}

TEST_F(TinyModelTest, ASeedGivesTheSameAnswerAgainAndAnotherAnother) {
    auto request = chat("Tell me a story.");
    request.options.temperature = 1.5;
    request.options.seed = 1;
    const auto one = client().chat(request);
    const auto again = client().chat(request);
    request.options.seed = 2;
    const auto other = client().chat(request);
    ASSERT_TRUE(one && again && other);
    EXPECT_EQ(one->choices.at(0).token_ids, again->choices.at(0).token_ids);
    EXPECT_NE(one->choices.at(0).token_ids, other->choices.at(0).token_ids);
}

TEST_F(TinyModelTest, ADrawnSeedRepeatsItsAnswer) {
    auto request = chat("Tell me a story.");
    request.options.temperature = 1.5;
    const auto drawn = client().chat(request);
    ASSERT_TRUE(drawn);
    request.options.seed = drawn->seed;
    const auto again = client().chat(request);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->choices.at(0).token_ids, drawn->choices.at(0).token_ids);
}

TEST_F(TinyModelTest, AStopStringEndsTheTextBeforeItStreamedAndNot) {
    const auto whole = client().chat(chat("Count with me.", 64));
    ASSERT_TRUE(whole);
    const std::string text = whole->choices.at(0).text;
    ASSERT_GT(text.size(), 12U);
    // Some characters from the middle, which rarely agree with the borders of tokens.
    std::size_t at = text.size() / 2;
    while ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    std::size_t end = at + 3;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    auto request = chat("Count with me.", 64);
    request.options.stop = {text.substr(at, end - at), "never there"};
    const std::string expected = text.substr(0, text.find(request.options.stop[0]));
    const auto stopped = client().chat(request);
    ASSERT_TRUE(stopped);
    EXPECT_EQ(stopped->choices.at(0).text, expected);
    EXPECT_EQ(stopped->choices.at(0).finish_reason, "stop");
    const Streamed streamed = stream(request);
    EXPECT_EQ(streamed.text, expected);
    EXPECT_EQ(streamed.finish_reason, "stop");
}

TEST_F(TinyModelTest, PromptIdsFedBackGiveTheSameAnswer) {
    const auto whole = client().chat(chat("Hello there"));
    ASSERT_TRUE(whole);
    protocol::CompletionRequest request;
    request.options = chat("").options;
    request.prompts = {*whole->prompt_token_ids};
    const auto from_ids = client().complete(request);
    ASSERT_TRUE(from_ids) << from_ids.error().message;
    EXPECT_EQ(from_ids->choices.at(0).token_ids, whole->choices.at(0).token_ids);
    EXPECT_EQ(from_ids->prompt_token_ids, whole->prompt_token_ids);
}

TEST_F(TinyModelTest, LogprobsAreSortedAndFitTheBytes) {
    auto request = chat("Hello", 8);
    request.options.logprobs = 3;
    const auto whole = client().chat(request);
    ASSERT_TRUE(whole) << whole.error().message;
    const auto& choice = whole->choices.at(0);
    ASSERT_EQ(choice.logprobs.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
        const auto& token = choice.logprobs[i];
        EXPECT_EQ(token.id, choice.token_ids[i]);
        ASSERT_EQ(token.top.size(), 3U);
        EXPECT_EQ(token.top[0].id, token.id);  // greedy
        EXPECT_LE(token.top[0].logprob, 0.0);
        EXPECT_GE(token.top[0].logprob, token.top[1].logprob);
        EXPECT_GE(token.top[1].logprob, token.top[2].logprob);
    }
}

TEST_F(TinyModelTest, SeveralChoicesDifferAndTheFirstIsTheSingleOne) {
    auto request = chat("Tell me a story.");
    request.options.temperature = 1.5;
    request.options.seed = 9;
    const auto single = client().chat(request);
    request.options.choices = 3;
    const auto several = client().chat(request);
    ASSERT_TRUE(single && several);
    ASSERT_EQ(several->choices.size(), 3U);
    EXPECT_EQ(several->choices[0].token_ids, single->choices[0].token_ids);
    EXPECT_NE(several->choices[1].token_ids, several->choices[0].token_ids);
    EXPECT_NE(several->choices[2].token_ids, several->choices[1].token_ids);
}

TEST_F(TinyModelTest, APromptLongerThanTheContextIsRefusedWithBothNumbers) {
    const auto loaded = client().load("tiny");
    ASSERT_TRUE(loaded);
    const int context = loaded->context;
    ASSERT_GT(context, 0);
    protocol::CompletionRequest request;
    request.prompts = {Ids(static_cast<std::size_t>(context) + 5, 1)};
    const auto refused = client().complete(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::context_exceeded);
    for (const int number : {context, context + 5})
        EXPECT_NE(refused.error().message.find(std::to_string(number)), std::string::npos)
            << refused.error().message;
}

class T038 : public TinyModelTest {};
TEST_F(T038, IdsOutsideOfTheVocabularyAreRefused) {
    protocol::CompletionRequest request;
    request.prompts = {Ids{1, 2'000'000'000}};
    const auto no_such_token = client().complete(request);
    ASSERT_FALSE(no_such_token);
    EXPECT_EQ(no_such_token.error().code, ErrorCode::bad_input);
    request.prompts = {Ids{1}};
    request.options.logit_bias = {{2'000'000'000, 1.0}};
    const auto no_such_bias = client().complete(request);
    ASSERT_FALSE(no_such_bias);
    EXPECT_EQ(no_such_bias.error().code, ErrorCode::bad_input);
}

TEST_F(TinyModelTest, SixteenStreamsAtOnceEqualTheSameOneByOne) {
    std::vector<protocol::ChatRequest> requests;
    for (int i = 0; i < 16; ++i) {
        auto request = chat(std::string(static_cast<std::size_t>(i) * 7, 'x') + " question", 32);
        request.options.temperature = i % 2 == 0 ? 0.0 : 1.2;
        request.options.seed = static_cast<std::uint64_t>(i);
        requests.push_back(request);
    }
    std::vector<Ids> alone;
    for (const auto& request : requests) {
        const auto reply = client().chat(request);
        ASSERT_TRUE(reply) << reply.error().message;
        alone.push_back(reply->choices.at(0).token_ids);
    }
    std::vector<Ids> together(requests.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i)
        threads.emplace_back([&, i] { together[i] = stream(requests[i]).ids; });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(together, alone);
}

TEST_F(TinyModelTest, AClientThatGoesInMidStreamFreesItsState) {
    auto request = chat("Hello", 100'000);
    const int free_before = [&] {
        EXPECT_TRUE(client().chat(chat("Hello", 1)));
        return status().models.at(0).pages_free;
    }();
    const auto ended = client().chat(request, [](const protocol::Reply& chunk) {
        return !chunk.choices.empty() && chunk.choices[0].text.empty();
    });
    EXPECT_TRUE(ended);
    EXPECT_TRUE(becomes_true([] { return is_idle(); }));
    EXPECT_EQ(status().models.at(0).pages_free, free_before);
}

TEST_F(TinyModelTest, LoadAndUnloadAreSeenInTheStatus) {
    ASSERT_TRUE(client().load("tiny"));
    const auto now = status();
    ASSERT_EQ(now.models.size(), 1U);
    EXPECT_EQ(now.models[0].state, "ready");
    EXPECT_GT(now.models[0].weight_bytes, 0U);
    EXPECT_GT(now.models[0].private_bytes, 0U);
    EXPECT_TRUE(now.models[0].sandbox.no_new_privileges);
    ASSERT_TRUE(client().unload("tiny"));
    EXPECT_TRUE(status().models.empty());
}

TEST(IdleUnload, AModelThatNobodyUsesGoesDespiteHealthPolls) {
    const RunningDaemon daemon({.worker = {}, .arguments = {"--idle-unload", "0.3"}});
    daemon.import(tiny_model_path(), "tiny");
    ASSERT_TRUE(daemon.client().load("tiny"));
    EXPECT_EQ(daemon.client().status()->models.size(), 1U);
    EXPECT_TRUE(becomes_true(
        [&] { return daemon.client().answers() && daemon.client().status()->models.empty(); }));
}

TEST(Stopping, SigtermInMidStreamEndsEverythingWithinFiveSeconds) {
    RunningDaemon daemon;
    daemon.import(tiny_model_path(), "tiny");
    protocol::ChatRequest request;
    request.messages = {{{"role", "user"}, {"content", "Hello"}}};
    request.options.ignore_end = true;
    std::atomic<bool> begun = false;
    Result<void> ended;
    std::thread reader([&] {
        ended = daemon.client().chat(request, [&](const protocol::Reply&) {
            begun = true;
            return true;
        });
        begun = true;
    });
    EXPECT_TRUE(becomes_true([&] { return begun.load(); }));
    EXPECT_EQ(daemon.terminate(), 0);
    reader.join();
    EXPECT_FALSE(std::filesystem::exists(daemon.socket()));
}

TEST(ImportedFile, ThatIsNoModelSaysWhatItIs) {
    const RunningDaemon daemon;
    const std::string path = daemon.root() / "page.gguf";
    std::ofstream(path) << "<!DOCTYPE html><html></html>";
    const auto imported = daemon.client().import_model({path, "", protocol::Link::automatic});
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::unsupported_format) << imported.error().message;
}

}  // namespace
