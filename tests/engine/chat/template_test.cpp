// The interface of templates and values: capabilities, errors, times, threads, speed.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/chat/template.h"

using namespace hearth;
using namespace hearth::chat;

namespace {

TEST(ChatTemplate, TellsWhichVariablesItReads) {
    const auto parsed = Template::parse(
        "{% if tools %}{{ enable_thinking|default(true) }}{% endif %}{% set only_set = 1 %}"
        "{{ x.documents }}");
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->uses("tools"));
    EXPECT_TRUE(parsed->uses("enable_thinking"));
    EXPECT_FALSE(parsed->uses("only_set"));
    EXPECT_FALSE(parsed->uses("documents"));
    EXPECT_FALSE(parsed->uses("messages"));
}

TEST(ChatTemplate, NamesTheLineOfASyntaxError) {
    const auto parsed = Template::parse("one\ntwo {{ a.b }}\n{{ 1 + }}\n");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::template_failed);
    EXPECT_EQ(parsed.error().message, "chat template, line 3: expected an expression, got '}}'");
}

TEST(ChatTemplate, NamesTheLineInsideOfAMacro) {
    const auto parsed =
        Template::parse("{% macro m(x) %}\n\n{{ x + 1 }}{% endmacro %}\n{{ m('a') }}");
    ASSERT_TRUE(parsed);
    const auto rendered = parsed->render(Value::object({}), {});
    ASSERT_FALSE(rendered);
    EXPECT_EQ(rendered.error().message,
              "chat template, line 3: can only concatenate str (not \"int\") to str");
}

TEST(ChatTemplate, RefusesVariablesThatAreNoObject) {
    const auto parsed = Template::parse("x");
    ASSERT_TRUE(parsed);
    const auto rendered = parsed->render(Value::list({}), {});
    ASSERT_FALSE(rendered);
    EXPECT_EQ(rendered.error().code, ErrorCode::bad_input);
}

TEST(ChatTemplate, RefusesVariablesThatNestTooDeeply) {
    Value deep = Value::list({});
    for (int i = 0; i < 300; ++i) deep = Value::list({deep});
    const auto parsed = Template::parse("{{ x }}");
    ASSERT_TRUE(parsed);
    const auto rendered = parsed->render(Value::object({{"x", deep}}), {});
    ASSERT_FALSE(rendered);
    EXPECT_EQ(rendered.error().code, ErrorCode::template_too_deep);
}

TEST(ChatTemplate, GivesTheHostsTime) {
    const auto parsed = Template::parse("{{ strftime_now('%Y-%m-%d %H:%M:%S %A') }}");
    ASSERT_TRUE(parsed);
    RenderOptions options;
    options.now = {2024, 2, 29, 23, 59, 1};
    const auto rendered = parsed->render(Value::object({}), options);
    ASSERT_TRUE(rendered);
    EXPECT_EQ(rendered->text, "2024-02-29 23:59:01 Thursday");
}

TEST(ChatTemplate, ReadsTimes) {
    const auto time = LocalTime::parse("2026-01-15T12:34:56");
    ASSERT_TRUE(time);
    EXPECT_EQ(time->month, 1);
    EXPECT_EQ(time->second, 56);
    EXPECT_TRUE(LocalTime::parse("2026-01-15"));
    for (const char* bad : {"", "2026", "2026-13-01", "2026-02-30", "2026-01-15T25:00:00", "today",
                            "2026-01-15X12:34:56", "20260115"})
        EXPECT_FALSE(LocalTime::parse(bad)) << bad;
}

TEST(ChatTemplate, RendersOnSeveralThreadsAtOnce) {
    const auto parsed = Template::parse(
        "{% for m in messages %}{{ m.role|upper }}:{{ m.content ~ '!' }}{% endfor %}");
    ASSERT_TRUE(parsed);
    std::vector<Value> messages;
    for (int i = 0; i < 50; ++i)
        messages.push_back(
            Value::object({{"role", Value::string("user")}, {"content", Value::string("text")}}));
    const Value variables = Value::object({{"messages", Value::list(std::move(messages))}});
    std::vector<std::string> texts(4);
    std::vector<std::thread> threads;
    for (std::string& text : texts)
        threads.emplace_back([&text, &parsed, &variables] {
            RenderOptions options;
            options.limits.wall = std::chrono::seconds(20);
            for (int i = 0; i < 20; ++i) {
                const auto rendered = parsed->render(variables, options);
                text = rendered ? rendered->text : rendered.error().message;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : texts) {
        EXPECT_EQ(text.size(), 50U * 10U);
        EXPECT_EQ(text.substr(0, 10), "USER:text!");
    }
}

TEST(ChatTemplate, RendersAHundredMessagesInMilliseconds) {
    const auto parsed = Template::parse(
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nYou help.<|im_end|>\n' }}{% endif %}"
        "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
        "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
    ASSERT_TRUE(parsed);
    const std::string content(400, 'x');
    std::vector<Value> messages;
    for (int i = 0; i < 100; ++i)
        messages.push_back(
            Value::object({{"role", Value::string(i % 2 == 0 ? "user" : "assistant")},
                           {"content", Value::string(content)}}));
    const Value variables = Value::object({{"messages", Value::list(std::move(messages))},
                                           {"add_generation_prompt", Value::boolean(true)}});
    auto best = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 10; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto rendered = parsed->render(variables, {});
        best = std::min(best, std::chrono::steady_clock::now() - start);
        ASSERT_TRUE(rendered);
        EXPECT_GT(rendered->text.size(), 40'000U);
    }
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(best).count();
    RecordProperty("microseconds", static_cast<int>(micros));
    // Generous, as the machine may be busy and the build slow: it takes some 0.2 ms.
    EXPECT_LT(micros, 50'000);
}

TEST(ChatValue, KeepsMembersInOrderAndTheLastOfEachKey) {
    std::vector<Member> members;
    for (int i = 0; i < 40; ++i)
        members.push_back({"key" + std::to_string(i % 20), Value::integer(i)});
    const Value object = Value::object(std::move(members));
    EXPECT_EQ(object.size(), 20U);
    ASSERT_NE(object.find("key3"), nullptr);
    EXPECT_EQ(object.find("key3")->as_integer(), 23);
    EXPECT_EQ(object.find("nope"), nullptr);
    const Value copy = object;
    EXPECT_EQ(copy.find("key19")->as_integer(), 39);
}

TEST(ChatValue, TellsItsKindAndContents) {
    EXPECT_TRUE(Value().is_undefined());
    EXPECT_TRUE(Value::none().is_none());
    EXPECT_TRUE(Value::boolean(true).as_boolean());
    EXPECT_EQ(Value::real(2.5).as_real(), 2.5);
    EXPECT_EQ(Value::string("abc").as_string(), "abc");
    EXPECT_EQ(Value::list({Value::integer(1), Value::none()}).as_list().size(), 2U);
    Value moved = Value::string("x");
    const Value target = std::move(moved);
    EXPECT_EQ(target.as_string(), "x");
}

}  // namespace
