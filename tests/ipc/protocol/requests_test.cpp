// Requests: what is accepted, what is refused by which name, and that clients' structs come back.
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "ipc/protocol/chat.h"
#include "ipc/protocol/library.h"

using namespace hearth;
using namespace hearth::protocol;

namespace {

template <typename Read>
auto read_with(Read read, const std::string& text, std::string* param = nullptr) {
    const json::object object = parse_json(text)->as_object();
    Fields fields(object);
    auto request = read(fields);
    if (param != nullptr) *param = fields.failure() ? fields.failure()->param : "(none)";
    return request;
}

using Ids = std::vector<std::int32_t>;

std::string chat_body(const std::string& more) {
    return R"({"messages":[{"role":"user","content":"Hi"}])" + (more.empty() ? "" : "," + more) +
           "}";
}

TEST(ChatRequest, DefaultsAreThoseOfTheApi) {
    std::string param;
    const ChatRequest request = read_with(read_chat_request, chat_body(""), &param);
    EXPECT_EQ(param, "(none)");
    EXPECT_EQ(request.options.temperature, 1.0);
    EXPECT_EQ(request.options.max_tokens, -1);
    EXPECT_EQ(request.options.choices, 1);
    EXPECT_EQ(request.options.logprobs, -1);
    EXPECT_FALSE(request.options.seed);
    EXPECT_TRUE(request.add_generation_prompt);
    EXPECT_EQ(request.messages.size(), 1U);
}

TEST(ChatRequest, EveryRangeEndsWhereItSays) {
    const struct {
        const char* field;
        const char* name;
    } refused[] = {
        {R"("temperature":-0.01)", "temperature"},
        {R"("temperature":2.01)", "temperature"},
        {R"("temperature":"1")", "temperature"},
        {R"("top_p":0)", "top_p"},
        {R"("top_p":1.01)", "top_p"},
        {R"("top_k":-2)", "top_k"},
        {R"("top_k":1.5)", "top_k"},
        {R"("min_p":-0.1)", "min_p"},
        {R"("min_p":1.1)", "min_p"},
        {R"("repetition_penalty":0)", "repetition_penalty"},
        {R"("repetition_penalty":2.1)", "repetition_penalty"},
        {R"("presence_penalty":-2.1)", "presence_penalty"},
        {R"("frequency_penalty":2.1)", "frequency_penalty"},
        {R"("max_tokens":0)", "max_tokens"},
        {R"("max_completion_tokens":-1)", "max_completion_tokens"},
        {R"("max_tokens":4294967296)", "max_tokens"},
        {R"("n":0)", "n"},
        {R"("n":9)", "n"},
        {R"("seed":1.5)", "seed"},
        {R"("seed":"1")", "seed"},
        {R"("stop":"")", "stop"},
        {R"("stop":["a","b","c","d","e"])", "stop"},
        {R"("stop":[1])", "stop"},
        {R"("logit_bias":{"x":1})", "logit_bias"},
        {R"("logit_bias":{"-1":1})", "logit_bias"},
        {R"("logit_bias":{"1":101})", "logit_bias.1"},
        {R"("logit_bias":[])", "logit_bias"},
        {R"("logprobs":1)", "logprobs"},
        {R"("top_logprobs":3)", "top_logprobs"},
        {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
        {R"("stream":"yes")", "stream"},
        {R"("stream_options":{"include_usage":1})", "stream_options.include_usage"},
        {R"("model":7)", "model"},
        {R"("priority":"urgent")", "priority"},
        {R"("response_format":{"type":"json_object"})", "response_format.type"},
        {R"("tool_choice":"required")", "tool_choice"},
        {R"("tools":{})", "tools"},
        {R"("tools":[1])", "tools[0]"},
        {R"("chat_template_kwargs":{"messages":[]})", "chat_template_kwargs.messages"},
    };
    for (const auto& c : refused) {
        SCOPED_TRACE(c.field);
        std::string param;
        read_with(read_chat_request, chat_body(c.field), &param);
        EXPECT_EQ(param, c.name);
    }
    const char* accepted[] = {
        R"("temperature":0)",
        R"("temperature":2)",
        R"("top_p":0.0001)",
        R"("top_p":1)",
        R"("top_k":-1)",
        R"("min_p":1)",
        R"("repetition_penalty":2)",
        R"("presence_penalty":-2)",
        R"("n":8)",
        R"("seed":-5)",
        R"("stop":null)",
        R"("stop":["a","b","c","d"])",
        R"("max_tokens":null)",
        R"("unknown":1)",
        R"("response_format":{"type":"text"})",
        R"("logit_bias":{"5":-100})",
        R"("tool_choice":"none")",
    };
    for (const char* field : accepted) {
        SCOPED_TRACE(field);
        std::string param;
        read_with(read_chat_request, chat_body(field), &param);
        EXPECT_EQ(param, "(none)");
    }
}

TEST(ChatRequest, MessagesAreCheckedByTheirPlace) {
    const struct {
        const char* messages;
        const char* name;
    } cases[] = {
        {"[]", "messages"},
        {"{}", "messages"},
        {"[1]", "messages[0]"},
        {R"([{"content":"x"}])", "messages[0].role"},
        {R"([{"role":"user","content":"x"},{"role":"","content":"x"}])", "messages[1].role"},
        {R"([{"role":"user"}])", "messages[0].content"},
        {R"([{"role":"user","content":null}])", "messages[0].content"},
        {R"([{"role":"user","content":5}])", "messages[0].content"},
        {R"([{"role":"user","content":[{"type":"image_url"}]}])", "messages[0].content[0].type"},
        {R"([{"role":"user","content":[{"type":"text"}]}])", "messages[0].content[0].text"},
        {R"([{"role":"user","content":["x"]}])", "messages[0].content[0]"},
        {R"([{"role":"assistant","tool_calls":[{},7]}])", "messages[0].tool_calls[1]"},
        {R"([{"role":"assistant","tool_calls":{}}])", "messages[0].tool_calls"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.messages);
        std::string param;
        read_with(read_chat_request, R"({"messages":)" + std::string(c.messages) + "}", &param);
        EXPECT_EQ(param, c.name);
    }
}

TEST(ChatRequest, TextPartsBecomeOneTextAndCallArgumentsObjects) {
    std::string param;
    const ChatRequest request =
        read_with(read_chat_request,
                  R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},
            {"type":"text","text":"b"}]},
            {"role":"assistant","content":null,"tool_calls":[{"type":"function",
             "function":{"name":"f","arguments":"{\"x\":1}"}}]},
            {"role":"tool","content":"7","tool_call_id":"c"}]})",
                  &param);
    EXPECT_EQ(param, "(none)");
    EXPECT_EQ(request.messages.at(0).at("content"), json::value("a\nb"));
    EXPECT_EQ(request.messages.at(1).at("content"), json::value(""));
    const auto& call = request.messages.at(1).at("tool_calls").at(0);
    EXPECT_EQ(call.at("function").at("arguments").at("x"), json::value(1));
    EXPECT_EQ(request.messages.at(2).at("tool_call_id"), json::value("c"));
}

TEST(ChatRequest, BothNamesOfTheLimitWorkAndTheNewerWins) {
    EXPECT_EQ(read_with(read_chat_request, chat_body(R"("max_tokens":5)")).options.max_tokens, 5);
    EXPECT_EQ(read_with(read_chat_request, chat_body(R"("max_tokens":5,"max_completion_tokens":6)"))
                  .options.max_tokens,
              6);
}

TEST(ChatRequest, WhatAClientWritesIsWhatTheDaemonReads) {
    ChatRequest sent;
    sent.options.model = "m";
    sent.options.max_tokens = 9;
    sent.options.temperature = 0.25;
    sent.options.top_k = 40;
    sent.options.top_p = 0.5;
    sent.options.min_p = 0.125;
    sent.options.repetition_penalty = 1.5;
    sent.options.presence_penalty = -1.0;
    sent.options.frequency_penalty = 0.5;
    sent.options.logit_bias = {{3, -100.0}, {4, 2.5}};
    sent.options.seed = UINT64_MAX;
    sent.options.choices = 2;
    sent.options.stop = {"a", "b"};
    sent.options.logprobs = 3;
    sent.options.stream = true;
    sent.options.include_usage = true;
    sent.options.return_token_ids = true;
    sent.options.ignore_end = true;
    sent.options.priority = "interactive";
    sent.options.client = "me";
    sent.messages = {{{"role", "user"}, {"content", "Hi"}}};
    sent.tools = {{{"type", "function"}}};
    sent.template_variables = {{"enable_thinking", false}};
    sent.add_generation_prompt = false;
    std::string param;
    const std::string text = json::serialize(to_json(sent));
    const ChatRequest got = read_with(read_chat_request, text, &param);
    EXPECT_EQ(param, "(none)");
    EXPECT_EQ(json::serialize(to_json(got)), text);
    EXPECT_EQ(got.options.seed, sent.options.seed);
    EXPECT_EQ(got.options.logit_bias, sent.options.logit_bias);
    EXPECT_EQ(got.options.logprobs, 3);
    EXPECT_EQ(got.options.client, "me");
}

TEST(CompletionRequest, ThePromptIsTextOrIds) {
    std::string param;
    auto request = read_with(read_completion_request, R"({"prompt":"a"})", &param);
    EXPECT_EQ(request.prompts, std::vector<Prompt>{"a"});
    EXPECT_TRUE(request.parse_special);
    request = read_with(read_completion_request, R"({"prompt":[1,2],"parse_special":false})");
    EXPECT_EQ(request.prompts, (std::vector<Prompt>{Ids{1, 2}}));
    EXPECT_FALSE(request.parse_special);
    EXPECT_EQ(json::serialize(to_json(request)), R"({"prompt":[1,2],"parse_special":false})");
}

TEST(CompletionRequest, SeveralPromptsAreServedTogether) {
    std::string param;
    const std::string text = R"({"prompt":["a",[1,2],""]})";
    const auto request = read_with(read_completion_request, text, &param);
    EXPECT_EQ(param, "(none)");
    EXPECT_EQ(request.prompts, (std::vector<Prompt>{"a", Ids{1, 2}, ""}));
    EXPECT_EQ(json::serialize(to_json(request)), text);
    const auto many = [](std::size_t count) {
        std::string list = R"({"prompt":["a")";
        for (std::size_t i = 1; i < count; ++i) list += ",\"a\"";
        return list + "]";
    };
    read_with(read_completion_request, many(kMaxPrompts) + "}", &param);
    EXPECT_EQ(param, "(none)");
    read_with(read_completion_request, many(kMaxPrompts + 1) + "}", &param);
    EXPECT_EQ(param, "prompt");
    read_with(read_completion_request, many(8) + R"(,"n":8})", &param);
    EXPECT_EQ(param, "(none)");
    read_with(read_completion_request, many(9) + R"(,"n":8})", &param);
    EXPECT_EQ(param, "n");
}

TEST(T038, TokenIdsAndBiasesOutOfRangeAreRefused) {
    std::string param;
    for (const auto& [prompt, name] : {std::pair("null", "prompt"),
                                       {"[]", "prompt"},
                                       {"5", "prompt"},
                                       {"{}", "prompt"},
                                       {"[1,-2]", "prompt"},
                                       {"[1.5]", "prompt"},
                                       {"[1.0]", "prompt"},
                                       {"[2147483648]", "prompt"},
                                       {"[9223372036854775808]", "prompt"},
                                       {"[1,\"a\"]", "prompt"},
                                       {"[1e308]", "prompt"},
                                       {"[1,null]", "prompt"},
                                       {"[[]]", "prompt[0]"},
                                       {"[[1],[-1]]", "prompt[1]"},
                                       {"[\"a\",1]", "prompt[1]"},
                                       {"[null]", "prompt[0]"}}) {
        SCOPED_TRACE(prompt);
        read_with(read_completion_request, R"({"prompt":)" + std::string(prompt) + "}", &param);
        EXPECT_EQ(param, name);
    }
    for (const char* key : {"-1", "2147483648", "99999999999999999999", "1.5", "1e3", " 1", "+1",
                            "01", "", "x", "NaN"}) {
        SCOPED_TRACE(key);
        read_with(read_chat_request, chat_body(R"("logit_bias":{")" + std::string(key) + "\":1}"),
                  &param);
        EXPECT_EQ(param, "logit_bias");
    }
    for (const char* bias : {"100.5", "-101", "1e308", "\"1\"", "true", "[]"}) {
        SCOPED_TRACE(bias);
        read_with(read_chat_request, chat_body(R"("logit_bias":{"7":)" + std::string(bias) + "}"),
                  &param);
        EXPECT_EQ(param, "logit_bias.7");
    }
}

TEST(CompletionRequest, WhatIsNotServedIsRefusedByName) {
    for (const char* field : {R"("echo":true)", R"("suffix":"x")", R"("best_of":2)"}) {
        SCOPED_TRACE(field);
        std::string param;
        read_with(read_completion_request, R"({"prompt":"a",)" + std::string(field) + "}", &param);
        EXPECT_NE(std::string(field).find("\"" + param + "\""), std::string::npos) << param;
    }
    std::string param;
    read_with(read_completion_request, R"({"prompt":"a","echo":false,"best_of":1})", &param);
    EXPECT_EQ(param, "(none)");
}

TEST(ImportRequest, NeedsAnAbsolutePathAndAKnownLink) {
    std::string param;
    const auto request =
        read_with(read_import_request, R"({"path":"/a.gguf","link":"in_place"})", &param);
    EXPECT_EQ(param, "(none)");
    EXPECT_EQ(request.link, Link::in_place);
    for (const auto& [text, name] : {std::pair(R"({})", "path"),
                                     {R"({"path":"a.gguf"})", "path"},
                                     {R"({"path":"/a\u0000b"})", "path"},
                                     {R"({"path":"/a","link":"soft"})", "link"}}) {
        SCOPED_TRACE(text);
        read_with(read_import_request, text, &param);
        EXPECT_EQ(param, name);
    }
}

}  // namespace
