// Replies: the shapes of OpenAI's API, and back into structs.
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "ipc/protocol/chat.h"
#include "ipc/protocol/library.h"
#include "ipc/protocol/status.h"

using namespace hearth;
using namespace hearth::protocol;

namespace {

Reply sample() {
    Reply reply;
    reply.id = "chatcmpl-1";
    reply.model = "m";
    reply.created = 1'700'000'000;
    reply.seed = 7;
    Choice choice;
    choice.text = "Hi\xC3\xA9";
    choice.finish_reason = "stop";
    choice.prompt_token_ids = std::vector<std::int32_t>{1, 2, 3};
    choice.token_ids = {5, 6};
    choice.logprobs = {{5, -0.5, "Hi", {{5, -0.5, "Hi", {}}, {9, -1.5, "\xC3", {}}}},
                       {6, -0.25, "\xC3\xA9", {}}};
    reply.choices.push_back(choice);
    reply.usage = Usage{3, 2, 1};
    reply.timings = Timings{1.0, 2.0, 4.0, 3, 1, 2};
    reply.prompt_token_ids = std::vector<std::int32_t>{1, 2, 3};
    return reply;
}

Reply back(const json::object& object) {
    Fields fields(object);
    Reply reply = read_reply(fields);
    EXPECT_FALSE(fields.failure()) << fields.failure()->error.message;
    return reply;
}

TEST(ChatReply, HasTheShapeThatClientsKnow) {
    const json::object out = to_json(sample(), {ReplyShape::chat, true, true});
    EXPECT_EQ(out.at("object"), json::value("chat.completion"));
    const json::value& choice = out.at("choices").at(0);
    EXPECT_EQ(choice.at("message").at("role"), json::value("assistant"));
    EXPECT_EQ(choice.at("message").at("content"), json::value("Hi\xC3\xA9"));
    EXPECT_EQ(choice.at("finish_reason"), json::value("stop"));
    EXPECT_EQ(choice.at("token_ids"), json::value({5, 6}));
    const json::value& token = choice.at("logprobs").at("content").at(0);
    EXPECT_EQ(token.at("bytes"), json::value({0x48, 0x69}));
    // Half a character: the text shows a replacement, the bytes are exact.
    EXPECT_EQ(token.at("top_logprobs").at(1).at("token"), json::value("\xEF\xBF\xBD"));
    EXPECT_EQ(token.at("top_logprobs").at(1).at("bytes"), json::value(json::array{0xC3}));
    EXPECT_EQ(out.at("usage").at("total_tokens"), json::value(5));
    EXPECT_EQ(out.at("timings").at("tokens_per_second"), json::value(500.0));
    EXPECT_EQ(out.at("timings").at("prompt_tokens_per_second"), json::value(1000.0));
    EXPECT_EQ(out.at("prompt_token_ids"), json::value({1, 2, 3}));
}

TEST(ChatReply, WhatWasNotAskedForIsAbsent) {
    Reply reply = sample();
    reply.prompt_token_ids.reset();
    reply.usage.reset();
    reply.timings.reset();
    reply.seed.reset();
    const json::object out = to_json(reply, {ReplyShape::chat, false, false});
    for (const char* name : {"prompt_token_ids", "usage", "timings", "seed"})
        EXPECT_FALSE(out.contains(name)) << name;
    EXPECT_FALSE(out.at("choices").at(0).as_object().contains("token_ids"));
    EXPECT_TRUE(out.at("choices").at(0).at("logprobs").is_null());
}

TEST(ChatChunk, OpensWithTheRoleAndGoesOnWithText) {
    Reply reply;
    reply.choices.emplace_back();
    reply.choices[0].opens = true;
    const ReplyStyle style{ReplyShape::chat_chunk, false, true};
    json::value choice = to_json(reply, style).at("choices").at(0);
    EXPECT_EQ(json::serialize(choice.at("delta")), R"({"role":"assistant","content":""})");
    EXPECT_TRUE(choice.at("finish_reason").is_null());
    reply.choices[0].opens = false;
    reply.choices[0].text = "x";
    choice = to_json(reply, style).at("choices").at(0);
    EXPECT_EQ(json::serialize(choice.at("delta")), R"({"content":"x"})");
    reply.choices[0].text.clear();
    reply.choices[0].finish_reason = "length";
    choice = to_json(reply, style).at("choices").at(0);
    EXPECT_EQ(json::serialize(choice.at("delta")), "{}");
}

TEST(CompletionReply, HasTheOlderLogprobsWithOffsetsInCharacters) {
    Reply reply = sample();
    reply.choices[0].text_offset = 10;
    const json::object out = to_json(reply, {ReplyShape::completion, true, true});
    const json::value& choice = out.at("choices").at(0);
    EXPECT_EQ(choice.at("text"), json::value("Hi\xC3\xA9"));
    EXPECT_EQ(choice.at("logprobs").at("text_offset"), json::value({10, 12}));
    EXPECT_EQ(choice.at("logprobs").at("tokens"), json::value({"Hi", "\xC3\xA9"}));
    EXPECT_EQ(choice.at("prompt_token_ids"), json::value({1, 2, 3}));
}

TEST(Replies, ComeBackAsTheyWere) {
    for (const ReplyShape shape : {ReplyShape::chat, ReplyShape::chat_chunk, ReplyShape::completion,
                                   ReplyShape::completion_chunk}) {
        SCOPED_TRACE(static_cast<int>(shape));
        const ReplyStyle style{shape, true, true};
        const std::string sent = json::serialize(to_json(sample(), style));
        const Reply got = back(parse_json(sent)->as_object());
        EXPECT_EQ(got.choices.at(0).text, sample().choices.at(0).text);
        EXPECT_EQ(got.choices.at(0).token_ids, sample().choices.at(0).token_ids);
        EXPECT_EQ(got.seed, 7U);
        EXPECT_EQ(got.usage->cached_tokens, 1);
        EXPECT_EQ(got.timings->generation_ms, 4.0);
        EXPECT_EQ(got.prompt_token_ids, sample().prompt_token_ids);
        if (shape != ReplyShape::chat) continue;
        EXPECT_EQ(json::serialize(to_json(got, style)), sent);
    }
}

TEST(Status, ComesBackAsItWas) {
    Status sent;
    sent.version = "1";
    sent.build = "b";
    sent.pid = 5;
    sent.running = 2;
    sent.models.emplace_back();
    sent.models[0].id = "m";
    sent.models[0].state = "ready";
    sent.models[0].private_bytes = 1ULL << 40U;
    sent.models[0].sandbox = {true, true, 7, "why"};
    const json::object out = to_json(sent);
    Fields fields(out);
    const Status got = read_status(fields);
    EXPECT_FALSE(fields.failure());
    EXPECT_EQ(to_json(got), out);
}

TEST(ModelEntry, ComesBackAsItWas) {
    ModelEntry sent;
    sent.id = "m";
    sent.size = 1ULL << 40U;
    sent.state = "changed";
    sent.unsupported = "no such architecture";
    sent.is_default = true;
    const json::object out = to_json(std::vector{sent});
    Fields fields(out);
    const auto got = read_model_list(fields);
    EXPECT_FALSE(fields.failure());
    EXPECT_EQ(to_json(got), out);
}

TEST(Status, QuarantinedModelsComeBackWithTheirReasons) {
    Status sent;
    sent.quarantined = {{"a", "it died"}, {"b", ""}};
    const json::object object = to_json(sent);
    Fields fields(object);
    const Status got = read_status(fields);
    EXPECT_FALSE(fields.failure());
    ASSERT_EQ(got.quarantined.size(), 2U);
    EXPECT_EQ(got.quarantined[0].id, "a");
    EXPECT_EQ(got.quarantined[0].reason, "it died");
}

TEST(LoadRequest, IsByForceOnlyWhenItSaysSo) {
    const auto read = [](const json::object& object) {
        Fields fields(object);
        const LoadRequest request = read_load_request(fields);
        return fields.failure() ? "wrong " + fields.failure()->param
                                : std::string(request.force ? "by force" : "plain");
    };
    EXPECT_EQ(read({}), "plain");
    EXPECT_EQ(read(to_json(LoadRequest{})), "plain");
    EXPECT_EQ(read(to_json(LoadRequest{.force = true})), "by force");
    EXPECT_EQ(read({{"force", 1}}), "wrong force");
}

}  // namespace
