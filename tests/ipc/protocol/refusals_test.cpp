// Requests that are refused or carried out in part, by the numbers of the security tests.
#include <gtest/gtest.h>

#include "ipc/protocol/chat.h"

using namespace hearth;
using namespace hearth::protocol;

namespace {

struct Outcome {
    std::string param = "(none)";
    std::string message;
    std::vector<std::string> unknown;
};

template <typename Read>
Outcome outcome_of(Read read, const std::string& text) {
    const json::object object = parse_json(text)->as_object();
    Fields fields(object);
    read(fields);
    if (fields.failure()) return {fields.failure()->param, fields.failure()->error.message, {}};
    return {"(none)", "", fields.unknown()};
}

Outcome chat(const std::string& more) {
    return outcome_of(read_chat_request,
                      R"({"messages":[{"role":"user","content":"Hi"}],)" + more + "}");
}
Outcome with_messages(const std::string& messages) {
    return outcome_of(read_chat_request, R"({"messages":)" + messages + "}");
}

std::string numbered_list(int count, const std::string& entry) {
    std::string list = "[" + entry;
    for (int i = 1; i < count; ++i) list += "," + entry;
    return list + "]";
}

TEST(T035, StopListsThatAreEmptyLongOrHugeAreRefused) {
    for (const std::string& stop :
         {std::string("\"\""), std::string(R"(["a",""])"), numbered_list(5, "\"a\""),
          numbered_list(17, "\"a\""), "\"" + std::string(1U << 20U, 'a') + "\"", std::string("{}"),
          std::string("1"), std::string("[null]"), std::string("[[\"a\"]]")}) {
        SCOPED_TRACE(stop.substr(0, 40));
        EXPECT_EQ(chat("\"stop\":" + stop).param, "stop");
    }
    EXPECT_EQ(chat(R"("stop":[])").param, "(none)");
    EXPECT_EQ(chat("\"stop\":\"" + std::string(4096, 'a') + "\"").param, "(none)");
}

TEST(T036, MessagesThatSayNothingAreRefusedWhereTheyStand) {
    EXPECT_EQ(with_messages("[]").param, "messages");
    EXPECT_EQ(with_messages("null").param, "messages");
    EXPECT_EQ(with_messages(R"([{"role":"user","content":null}])").param, "messages[0].content");
    EXPECT_EQ(with_messages(R"([{"role":"assistant"}])").param, "messages[0].content");
    // Text of no length is text: the template decides.
    EXPECT_EQ(with_messages(R"([{"role":"user","content":""}])").param, "(none)");
    EXPECT_EQ(with_messages(R"([{"role":"user","content":[]}])").param, "(none)");
    EXPECT_EQ(with_messages(R"([{"role":"system","content":"x"}])").param, "(none)");
    EXPECT_EQ(with_messages(R"([{"role":"assistant","content":null,"tool_calls":[]}])").param,
              "(none)");
    EXPECT_EQ(outcome_of(read_completion_request, R"({"prompt":""})").param, "(none)");
    EXPECT_EQ(outcome_of(read_completion_request, "{}").param, "prompt");
}

TEST(T047, TemplateVariablesHaveReservedNamesAndLimits) {
    for (const char* name : {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token",
                             "raise_exception"})
        EXPECT_EQ(chat(R"("chat_template_kwargs":{")" + std::string(name) + "\":1}").param,
                  "chat_template_kwargs." + std::string(name));
    for (const char* wrong : {"[]", "\"x\"", "1", "true"})
        EXPECT_EQ(chat("\"chat_template_kwargs\":" + std::string(wrong)).param,
                  "chat_template_kwargs");
    const std::string megabyte(1U << 20U, 'a');
    EXPECT_EQ(chat(R"("chat_template_kwargs":{"x":")" + megabyte + "\"}").param,
              "chat_template_kwargs");
    std::string many = "\"chat_template_kwargs\":{\"x\":1";
    for (int i = 0; i < 10'000; ++i) many += ",\"" + std::to_string(i) + "\":1";
    EXPECT_EQ(chat(many + "}").param, "chat_template_kwargs");
    // Any other name may be set: a template that does not read it is not touched by it.
    EXPECT_EQ(chat(R"("chat_template_kwargs":{"enable_thinking":false,"x":[1]})").param, "(none)");
    EXPECT_EQ(chat("\"reasoning_effort\":\"" + megabyte + "\"").param, "reasoning_effort");
}

TEST(T048, AWholeTemplateFromAClientIsRefused) {
    EXPECT_EQ(chat(R"("chat_template":"{{ messages }}")").param, "chat_template");
}

TEST(T088, PartsThatWouldHaveToBeFetchedAreRefusedByName) {
    for (const char* type : {"image_url", "input_audio", "file", "input_image", "video_url"}) {
        const std::string part =
            R"({"type":")" + std::string(type) + R"(","image_url":{"url":"http://192.0.2.1/a"}})";
        const Outcome got = with_messages(R"([{"role":"user","content":[)" + part + "]}]");
        EXPECT_EQ(got.param, "messages[0].content[0].type");
        EXPECT_NE(got.message.find(type), std::string::npos) << got.message;
    }
    for (const char* url : {"http://192.0.2.1/x", "file:///etc/passwd", "data:image/png;base64,AA"})
        EXPECT_EQ(
            with_messages(R"([{"role":"user","content":{"url":")" + std::string(url) + "\"}}]")
                .param,
            "messages[0].content");
    // What looks like a call back is not known, and said so.
    EXPECT_EQ(chat(R"("webhook":"http://192.0.2.1/","callback_url":"http://192.0.2.1/")").unknown,
              (std::vector<std::string>{"webhook", "callback_url"}));
}

TEST(T133, CountsAtTheirExtremesAreRefusedOrTakenAsDocumented) {
    for (const char* field :
         {R"("n":0)", R"("n":9)", R"("n":2147483648)", R"("n":-1)", R"("max_tokens":0)",
          R"("max_tokens":-1)", R"("max_tokens":2147483648)", R"("max_completion_tokens":0)"})
        EXPECT_NE(chat(field).param, "(none)") << field;
    // Generation ends where the context is full.
    EXPECT_EQ(chat(R"("n":8,"max_tokens":2147483647)").param, "(none)");
}

TEST(UnknownFields, AreListedWithTheirPlaces) {
    const Outcome got = outcome_of(read_chat_request, R"({"messages":[
        {"role":"user","content":[{"type":"text","text":"a","cache_control":{"x":1}}],"name":"b"}],
        "stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false,"z":1},
        "min_tokens":3,"response_format":{"type":"text","strict":true},
        "logit_bias":{"7":1},"chat_template_kwargs":{"anything":1},"tools":[{"any":1}]})");
    EXPECT_EQ(got.param, "(none)") << got.message;
    EXPECT_EQ(got.unknown,
              (std::vector<std::string>{"min_tokens", "stream_options.z", "response_format.strict",
                                        "messages[0].content[0].cache_control"}));
}

TEST(UnknownFields, WhatClientsSendWithoutHarmIsKnown) {
    const Outcome got =
        chat(R"("user":"me","metadata":{"a":"b"},"store":false,"service_tier":"auto",
        "safety_identifier":"s","prompt_cache_key":"k","prompt_cache_retention":"24h",
        "prediction":{"type":"content","content":"x"},"parallel_tool_calls":false,
        "reasoning_effort":"low","modalities":["text"],"tool_choice":"auto","best_of":1)");
    EXPECT_EQ(got.param, "(none)") << got.message;
    EXPECT_EQ(got.unknown, std::vector<std::string>{});
}

TEST(UnservedFields, ThatWouldChangeTheAnswerAreRefusedByName) {
    for (const auto& [field, name] :
         {std::pair(R"("functions":[])", "functions"),
          {R"("function_call":"auto")", "function_call"},
          {R"("audio":{"voice":"x"})", "audio"},
          {R"("modalities":["text","audio"])", "modalities"},
          {R"("modalities":[])", "modalities"},
          {R"("web_search_options":{})", "web_search_options"},
          {R"("response_format":{"type":"json_schema"})", "response_format.type"},
          {R"("response_format":{})", "response_format.type"},
          {R"("tool_choice":{"type":"function","function":{"name":"f"}})", "tool_choice"},
          {R"("echo":true)", "echo"},
          {R"("suffix":"x")", "suffix"},
          {R"("best_of":3)", "best_of"}}) {
        SCOPED_TRACE(field);
        EXPECT_EQ(chat(field).param, name);
    }
}

TEST(ReasoningEffort, BecomesAVariableOfTheTemplateUnlessThatIsSet) {
    const auto variable = [](const std::string& more) {
        const json::object object =
            parse_json(R"({"messages":[{"role":"user","content":"Hi"}],"reasoning_effort":"low")" +
                       more + "}")
                ->as_object();
        Fields fields(object);
        return read_chat_request(fields).template_variables.at("reasoning_effort");
    };
    EXPECT_EQ(variable(""), json::value("low"));
    EXPECT_EQ(variable(R"(,"chat_template_kwargs":{"reasoning_effort":"high"})"),
              json::value("high"));
}

}  // namespace
