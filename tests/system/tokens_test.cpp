// /hearth/v1/tokenize, detokenize and render, with real processes and the tiny model: they say
// exactly what a completion reads.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/support/paths.h"
#include "tests/system/tiny_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

class TokensTest : public TinyDaemonTest {
protected:
    static protocol::ChatRequest chat(const std::string& text) {
        protocol::ChatRequest request;
        request.messages = {{{"role", "user"}, {"content", text}}};
        request.options.max_tokens = 1;
        request.options.return_token_ids = true;
        return request;
    }
    static protocol::TokenizeReply tokenize(const protocol::TokenizeRequest& request) {
        auto reply = client().tokenize(request);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : protocol::TokenizeReply{};
    }
};

constexpr const char* kText = "The sea, f\u00fcr uns: <|im_start|>\n\n42 \U0001F30A";

TEST_F(TokensTest, AModelThatIsNotLoadedIsLoadedForTheQuestion) {
    if (!client().status()->models.empty()) {
        ASSERT_TRUE(client().unload("tiny"));
    }
    protocol::TokenizeRequest request;
    request.input = kText;
    EXPECT_FALSE(tokenize(request).ids.empty());
    EXPECT_EQ(client().status()->models.at(0).state, "ready");
}

TEST_F(TokensTest, ATextGivesTheIdsThatACompletionReads) {
    protocol::CompletionRequest completion;
    completion.prompts = {kText};
    completion.options.max_tokens = 1;
    completion.options.return_token_ids = true;
    protocol::TokenizeRequest request;
    request.input = kText;
    for (const bool parse_special : {true, false}) {
        completion.parse_special = request.parse_special = parse_special;
        const auto completed = client().complete(completion);
        ASSERT_TRUE(completed) << completed.error().message;
        EXPECT_EQ(tokenize(request).ids, *completed->prompt_token_ids);
    }
}

TEST_F(TokensTest, AChatGivesTheIdsAndThePromptThatAChatCompletionReads) {
    const auto request = chat(kText);
    const auto completed = client().chat(request);
    ASSERT_TRUE(completed) << completed.error().message;
    const auto rendered = client().render(request);
    ASSERT_TRUE(rendered) << rendered.error().message;
    EXPECT_EQ(rendered->ids, *completed->prompt_token_ids);
    EXPECT_NE(rendered->prompt.find(kText), std::string::npos);
    EXPECT_GT(rendered->prompt.size(), std::string(kText).size());
    protocol::TokenizeRequest question;
    question.input = request;
    EXPECT_EQ(tokenize(question).ids, rendered->ids);
}

TEST_F(TokensTest, PiecesAreTheBytesOfTheTextAndIdsGiveItBack) {
    protocol::TokenizeRequest request;
    request.input = kText;
    request.parse_special = false;
    request.add_bos = false;
    request.with_pieces = true;
    const auto reply = tokenize(request);
    ASSERT_EQ(reply.pieces.size(), reply.ids.size());
    std::string bytes;
    for (const auto& piece : reply.pieces) bytes += piece.bytes;
    EXPECT_EQ(bytes, kText);
    const auto text = client().detokenize({"", reply.ids});
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->text, kText);
}

TEST_F(TokensTest, AddBosIsObeyedEitherWay) {
    protocol::TokenizeRequest request;
    request.input = "sea";
    request.add_bos = false;
    const auto without = tokenize(request).ids;
    request.add_bos = true;
    const auto with = tokenize(request).ids;
    ASSERT_EQ(with.size(), without.size() + 1);
    EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin() + 1));
}

TEST_F(TokensTest, AnEmptyTextHasNoTokens) {
    protocol::TokenizeRequest request;
    request.input = "";
    request.add_bos = false;
    EXPECT_TRUE(tokenize(request).ids.empty());
    EXPECT_EQ(client().detokenize({"", {}})->text, "");
}

TEST_F(TokensTest, WhatCannotBeAnsweredIsATypedError) {
    const auto code_of = [](const char* target, const char* body) {
        const auto reply = client().post(target, boost::json::parse(body).as_object());
        return reply ? std::string("none") : std::string(to_string(reply.error().code));
    };
    EXPECT_EQ(code_of("/hearth/v1/tokenize", R"({})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/tokenize", R"({"text": "a", "messages": []})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/tokenize", R"({"text": 5})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/tokenize", R"({"text": "a", "model": "none"})"), "not_found");
    EXPECT_EQ(code_of("/hearth/v1/detokenize", R"({"ids": [2000000000]})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/detokenize", R"({"ids": ["a"]})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/detokenize", R"({})"), "bad_input");
    EXPECT_EQ(code_of("/hearth/v1/render", R"({"messages": "a"})"), "bad_input");
    // Two million words, each at least a token of its own.
    std::string words;
    for (int i = 0; i < 2'000'000; ++i) words += i % 2 == 0 ? "a\n" : "b\t";
    protocol::TokenizeRequest request;
    request.input = words;
    const auto too_many = client().tokenize(request);
    ASSERT_FALSE(too_many);
    EXPECT_EQ(too_many.error().code, ErrorCode::too_large) << too_many.error().message;
}

}  // namespace
