// The words of an answer through real processes: characters and stop strings in any cut, prompts at
// the edge of the context, templates that refuse or are not understood.
#include <gtest/gtest.h>

#include <random>

#include "engine/base/mapped_file.h"
#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"
#include "tests/support/changed_gguf.h"
#include "tests/support/paths.h"
#include "tests/system/tiny_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

namespace json = boost::json;
using Ids = std::vector<std::int32_t>;

// What an answer was, whole or joined from its stream; each piece of a stream was checked.
struct Answer {
    std::string text;
    std::string finish_reason;
    bool operator==(const Answer&) const = default;
};

class WordsTest : public TinyDaemonTest {
protected:
    // A copy of the tiny model whose template is `source`.
    static void import_with_template(const std::string& name, const std::string& source) {
        const std::string path = daemon_->root() / (name + ".gguf");
        write_changed(tiny_model_path(), path,
                      {.keys = {{"tokenizer.chat_template", string_value(source)}}});
        daemon_->import(path, name);
    }
    static protocol::ChatRequest chat(const std::string& model, json::array messages) {
        protocol::ChatRequest request;
        request.options.model = model;
        request.options.max_tokens = 2;
        request.messages = std::move(messages);
        return request;
    }
    static protocol::CompletionRequest completion(protocol::Prompt prompt, int max_tokens) {
        protocol::CompletionRequest request;
        request.options.model = "tiny";
        request.options.max_tokens = max_tokens;
        request.options.ignore_end = true;
        request.options.seed = 5;
        request.prompts = {std::move(prompt)};
        return request;
    }
    template <typename Request>
    static Answer whole(const Request& request, Result<protocol::Reply> reply) {
        EXPECT_TRUE(reply) << reply.error().message;
        if (!reply) return {};
        EXPECT_EQ(reply->seed, request.options.seed);
        return {reply->choices.at(0).text, reply->choices.at(0).finish_reason};
    }
    static void add_to(Answer& answer, const protocol::Reply& chunk) {
        for (const auto& choice : chunk.choices) {
            EXPECT_EQ(find_utf8_error(choice.text), std::nullopt);
            answer.text += choice.text;
            answer.finish_reason += choice.finish_reason;
        }
    }
    static Answer answer(const protocol::CompletionRequest& request) {
        const Answer all = whole(request, client().complete(request));
        Answer joined;
        EXPECT_TRUE(client().complete(request, [&](const protocol::Reply& chunk) {
            add_to(joined, chunk);
            return true;
        }));
        EXPECT_EQ(joined, all);
        return all;
    }
    static Answer answer(const protocol::ChatRequest& request) {
        const Answer all = whole(request, client().chat(request));
        Answer joined;
        EXPECT_TRUE(client().chat(request, [&](const protocol::Reply& chunk) {
            add_to(joined, chunk);
            return true;
        }));
        EXPECT_EQ(joined, all);
        return all;
    }
    // The tokens of the tiny model that are these single bytes.
    static Ids byte_tokens(std::string_view bytes) {
        const auto file = MappedFile::open(tiny_model_path()).value();
        const auto gguf = gguf::File::read(file.bytes()).value();
        const auto tokenizer = text::Tokenizer::load(gguf.metadata()).value();
        Ids ids;
        for (const char byte : bytes)
            for (text::TokenId id = 0; id < tokenizer.size(); ++id)
                if (tokenizer.bytes(id) == std::string_view(&byte, 1)) {
                    ids.push_back(id);
                    break;
                }
        EXPECT_EQ(ids.size(), bytes.size());
        return ids;
    }
};
class T031 : public WordsTest {};
class T032 : public WordsTest {};
class T034 : public WordsTest {};
class T036 : public WordsTest {};
class T037 : public WordsTest {};
class T045 : public WordsTest {};
class T046 : public WordsTest {};
class DeveloperRole : public WordsTest {};

// A model that says nothing but these bytes, in an order that the seed draws.
protocol::CompletionRequest only(protocol::CompletionRequest request, const Ids& ids) {
    request.options.temperature = 2.0;
    for (const std::int32_t id : ids) request.options.logit_bias.emplace_back(id, 100.0);
    return request;
}

TEST_F(T031, BytesOfCharactersArriveAsWholeCharacters) {
    const Ids ids = byte_tokens("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\xA5");
    int characters = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto request = only(completion("x", 200), ids);
        request.options.seed = seed;
        const std::string text = answer(request).text;
        EXPECT_EQ(find_utf8_error(text), std::nullopt);
        for (const char* character : {"\xC3\xA9", "\xE2\x82\xAC"})
            characters += text.find(character) != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(characters, 0);
}

TEST_F(T032, AnEndInsideACharacterGivesOneReplacement) {
    const Ids lead = byte_tokens("\xF0");
    const Answer cut = answer(only(completion("x", 1), lead));
    EXPECT_EQ(cut, (Answer{std::string(kReplacementUtf8), "length"}));
    // A stop string that begins inside of what cannot become a character.
    auto request = only(completion("x", 8), lead);
    request.options.stop = {std::string(kReplacementUtf8)};
    EXPECT_EQ(answer(request), (Answer{"", "stop"}));
    // And one that only the end of the answer completes.
    request.options.max_tokens = 1;
    EXPECT_EQ(answer(request), (Answer{"", "stop"}));
}

// Where `text` ends when these stops are sought in all of it: before the one that ends first, of
// those the longest.
std::string cut_at(const std::string& text, const std::vector<std::string>& stops) {
    for (std::size_t end = 1; end <= text.size(); ++end) {
        std::size_t longest = 0;
        for (const std::string& stop : stops)
            if (std::string_view(text).substr(0, end).ends_with(stop))
                longest = std::max(longest, stop.size());
        if (longest > 0) return text.substr(0, end - longest);
    }
    return text;
}

// 1 to 4 strings, most of them cut out of the text at borders of characters.
std::vector<std::string> draw_stops(const std::string& text, std::mt19937& random) {
    std::vector<std::size_t> borders;
    for (std::size_t i = 0; i <= text.size(); ++i)
        if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U)
            borders.push_back(i);
    std::vector<std::string> stops;
    for (std::size_t count = 1 + random() % 4; stops.size() < count;) {
        const std::size_t first = random() % (borders.size() - 1);
        const std::size_t last = std::min(first + 1 + random() % 8, borders.size() - 1);
        std::string stop = text.substr(borders[first], borders[last] - borders[first]);
        if (random() % 4 == 0) stop += "\xC3\xA9";  // begins, and does not end
        stops.push_back(std::move(stop));
    }
    return stops;
}

template <typename Request, typename Ask>
void expect_stops_as_in_the_whole_text(Request request, Ask ask) {
    const std::string text = ask(request).text;
    ASSERT_GT(text.size(), 20U);
    std::mt19937 random(11);
    int stopped = 0;
    for (int round = 0; round < 60; ++round) {
        request.options.stop = draw_stops(text, random);
        const std::string expected = cut_at(text, request.options.stop);
        const Answer got = ask(request);
        EXPECT_EQ(got.text, expected);
        EXPECT_EQ(got.finish_reason, expected == text ? "length" : "stop");
        stopped += expected == text ? 0 : 1;
    }
    EXPECT_GT(stopped, 30);
}

TEST_F(T034, StopsOfACompletionAreThoseOfTheWholeTextStreamedAndNot) {
    expect_stops_as_in_the_whole_text(completion("The sea is", 60),
                                      [](const auto& request) { return answer(request); });
}

TEST_F(T034, StopsOfAChatAreThoseOfTheWholeTextStreamedAndNot) {
    auto request = chat("tiny", {{{"role", "user"}, {"content", "Why is the sky blue?"}}});
    request.options.max_tokens = 60;
    request.options.ignore_end = true;
    request.options.seed = 6;
    expect_stops_as_in_the_whole_text(request, [](const auto& one) { return answer(one); });
}

TEST_F(T036, PromptsThatSayNothingAreAnsweredOrRefused) {
    // Only a model that begins every text with a token of its own could go on from nothing.
    const auto empty = client().complete(completion("", 1));
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, ErrorCode::bad_input);
    EXPECT_NE(empty.error().message.find("empty"), std::string::npos);
    EXPECT_TRUE(client().complete(completion(" \n\t", 1)));
    EXPECT_TRUE(client().chat(chat("tiny", {{{"role", "system"}, {"content", "Be brief."}}})));
    EXPECT_TRUE(client().chat(chat("tiny", {{{"role", "user"}, {"content", ""}}})));
}

TEST_F(T037, PromptsAtTheEdgeOfTheContextAreTakenOrRefusedWithBothNumbers) {
    const auto loaded = client().load("tiny");
    ASSERT_TRUE(loaded);
    const auto context = static_cast<std::size_t>(loaded->context);
    const auto last = client().complete(completion(Ids(context - 1, 5), 10));
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(last->usage->completion_tokens, 1);
    EXPECT_EQ(last->choices.at(0).finish_reason, "length");
    for (const std::size_t size : {context, context + 1, context * 10}) {
        const auto refused = client().complete(completion(Ids(size, 5), 10));
        ASSERT_FALSE(refused) << size;
        EXPECT_EQ(refused.error().code, ErrorCode::context_exceeded);
        for (const std::size_t number : {context, size})
            EXPECT_NE(refused.error().message.find(std::to_string(number)), std::string::npos)
                << refused.error().message;
    }
}

TEST_F(T045, WhatATemplateRefusesIsABadRequestInItsWordsAndTheNextOneWorks) {
    import_with_template("strict",
                         "{% if messages[0]['role'] != 'user' %}{{ raise_exception('roles must "
                         "alternate ' + 'x' * 1000) }}{% endif %}{{ messages[0]['content'] }}");
    const auto refused =
        client().chat(chat("strict", {{{"role", "assistant"}, {"content", "first"}}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::template_failed);
    EXPECT_NE(refused.error().message.find("roles must alternate"), std::string::npos);
    EXPECT_LT(refused.error().message.size(), 300U);
    EXPECT_TRUE(client().chat(chat("strict", {{{"role", "user"}, {"content", "Hi"}}})));
}

TEST_F(T046, AModelWithATemplateThatIsNotUnderstoodStillCompletesText) {
    import_with_template("odd", "{% include 'other' %}");
    const auto refused = client().chat(chat("odd", {{{"role", "user"}, {"content", "Hi"}}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::template_failed);
    EXPECT_NE(refused.error().message.find("cannot be used"), std::string::npos)
        << refused.error().message;
    auto request = completion("The sea is", 4);
    request.options.model = "odd";
    EXPECT_TRUE(client().complete(request));
}

TEST_F(DeveloperRole, IsTheSystemsWhereTheTemplateDoesNotSpeakOfIt) {
    import_with_template("plain",
                         "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}");
    import_with_template("newer",
                         "{# developer #}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
                         "{% endfor %}");
    const auto rendered = [](const char* model) {
        const auto reply =
            client().post("/hearth/v1/render", {{"model", model},
                                                {"messages",
                                                 {{{"role", "developer"}, {"content", "Be brief."}},
                                                  {{"role", "user"}, {"content", "developer"}}}}});
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::string(reply->at("prompt").as_string()) : "";
    };
    EXPECT_EQ(rendered("plain"), "[system]Be brief.[user]developer");
    EXPECT_EQ(rendered("newer"), "[developer]Be brief.[user]developer");
}

}  // namespace
