// What OpenAI's clients rely on beside the text itself: events on the wire, several prompts, usage
// in streams, unknown fields, and bodies that are no requests.
#include <sys/socket.h>

#include <array>
#include <boost/json/serialize.hpp>

#include "ipc/client/event_splitter.h"
#include "ipc/protocol/version.h"
#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace json = boost::json;

namespace {

class FidelityTest : public FakeDaemonTest {
protected:
    FidelityTest() { import_fake(); }

    client::HttpReply complete(const json::object& body) const {
        return send({.method = "POST", .target = "/v1/completions", .body = json::serialize(body)});
    }
    static std::vector<std::string> events_of(const client::HttpReply& reply) {
        client::EventSplitter splitter;
        std::vector<std::string> events;
        for (const auto& event : splitter.feed(reply.body)) events.push_back(event.data);
        return events;
    }
    static std::string unknown_fields(const client::HttpReply& reply) {
        return reply.header("x-hearth-unknown-fields");
    }
};
class T026 : public FidelityTest {};
class T079 : public FidelityTest {};
class T083 : public FidelityTest {};

TEST_F(T083, ContentThatLooksLikeTheProtocolStaysContent) {
    for (const std::string content :
         {"a\nb\n\nc", "a\r\nb\rc", "data: x\n\ndata: [DONE]\n\n", "\xE2\x80\xA8\xE2\x80\xA9",
          ": comment\nevent: error\nid: 7\nretry: 1\n", "[DONE]", "{\"error\":{\"code\":\"x\"}}",
          "\x01\x1F\"\\</script>", "\xF0\x9F\x98\x80\xC2\x85"}) {
        SCOPED_TRACE(content);
        const auto whole = complete({{"prompt", "say " + content}});
        ASSERT_EQ(whole.status, 200) << whole.body;
        EXPECT_EQ(protocol::parse_json(whole.body)->at("choices").at(0).at("text"),
                  json::value(content));
        const auto streamed = complete({{"prompt", "say " + content}, {"stream", true}});
        ASSERT_EQ(streamed.status, 200);
        // One line of data per event, then an empty line; nothing else.
        for (const char c : streamed.body) EXPECT_NE(c, '\r');
        const auto events = events_of(streamed);
        std::string bytes;
        for (const std::string& event : events) bytes += "data: " + event + "\n\n";
        EXPECT_EQ(bytes, streamed.body);
        ASSERT_FALSE(events.empty());
        EXPECT_EQ(events.back(), "[DONE]");
        std::string joined;
        for (std::size_t i = 0; i + 1 < events.size(); ++i)
            joined += protocol::parse_json(events[i])->at("choices").at(0).at("text").as_string();
        EXPECT_EQ(joined, content);
    }
}

TEST_F(T083, AStreamHasOneEndAnErrorOrDone) {
    const auto failed = events_of(complete({{"prompt", "die 3"}, {"stream", true}}));
    ASSERT_GE(failed.size(), 2U);
    int errors = 0;
    for (const std::string& event : failed) {
        EXPECT_NE(event, "[DONE]");
        errors += event.starts_with("{\"error\"") ? 1 : 0;
    }
    EXPECT_EQ(errors, 1);
    EXPECT_TRUE(failed.back().starts_with("{\"error\""));
    // One choice of several that fails ends them all, once.
    const auto several =
        events_of(complete({{"prompt", {"count 3", "die 3"}}, {"stream", true}, {"n", 2}}));
    errors = 0;
    for (const std::string& event : several) errors += event.starts_with("{\"error\"") ? 1 : 0;
    EXPECT_EQ(errors, 1);
    EXPECT_TRUE(several.back().starts_with("{\"error\""));
}

TEST_F(FidelityTest, OnlyTheLastChunkHasUsageAndTheOthersSayNull) {
    const auto reply = complete(
        {{"prompt", "count 3"}, {"stream", true}, {"stream_options", {{"include_usage", true}}}});
    const auto events = events_of(reply);
    ASSERT_EQ(events.size(), 7U);  // opening, three tokens, the end, usage, [DONE]
    for (std::size_t i = 0; i < 5; ++i) {
        const auto chunk = protocol::parse_json(events[i]);
        EXPECT_TRUE(chunk->at("usage").is_null());
        EXPECT_EQ(chunk->at("choices").as_array().size(), 1U);
    }
    const auto last = protocol::parse_json(events[5]);
    EXPECT_EQ(last->at("usage").at("total_tokens"), json::value(5));
    EXPECT_TRUE(last->at("choices").as_array().empty());
    const auto without = events_of(complete({{"prompt", "count 1"}, {"stream", true}}));
    for (const std::string& event : without) EXPECT_EQ(event.find("\"usage\""), std::string::npos);
}

TEST_F(FidelityTest, SeveralPromptsAreAnsweredPromptByPrompt) {
    const json::object body = {
        {"prompt", {"say first", "count 2"}}, {"n", 2}, {"return_token_ids", true}};
    const auto whole = complete(body);
    ASSERT_EQ(whole.status, 200) << whole.body;
    const auto value = protocol::parse_json(whole.body);
    const json::array& choices = value->at("choices").as_array();
    ASSERT_EQ(choices.size(), 4U);
    const char* texts[] = {"first", "first", "0 1 ", "0 1 "};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(choices[i].at("index"), json::value(i));
        EXPECT_EQ(choices[i].at("text"), json::value(texts[i]));
        EXPECT_EQ(choices[i].at("prompt_token_ids"), json::value({7, 8}));
    }
    EXPECT_FALSE(value->get_object().contains("prompt_token_ids"));
    EXPECT_EQ(value->at("usage").at("prompt_tokens"), json::value(4));
    EXPECT_EQ(value->at("usage").at("completion_tokens"), json::value(14));
    json::object streamed = body;
    streamed["stream"] = true;
    std::array<std::string, 4> joined;
    int ends = 0;
    int with_ids = 0;
    for (const std::string& event : events_of(complete(streamed))) {
        if (event == "[DONE]") continue;
        const auto chunk = protocol::parse_json(event);
        const json::value& choice = chunk->at("choices").at(0);
        joined.at(choice.at("index").to_number<std::size_t>()) += choice.at("text").as_string();
        ends += choice.at("finish_reason").is_null() ? 0 : 1;
        with_ids += choice.get_object().contains("prompt_token_ids") ? 1 : 0;
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(joined[i], texts[i]);
    EXPECT_EQ(ends, 4);
    EXPECT_EQ(with_ids, 2);  // once for each prompt
}

TEST_F(FidelityTest, UnknownFieldsAreNamedInTheHeadWholeAndStreamed) {
    for (const bool stream : {false, true}) {
        const auto reply = complete({{"prompt", "count 1"},
                                     {"stream", stream},
                                     {"max_token", 5},
                                     {"stream_options", {{"usage", true}}},
                                     {"user", "me"}});
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(unknown_fields(reply), "max_token, stream_options.usage");
        EXPECT_EQ(unknown_fields(complete({{"prompt", "count 1"}, {"stream", stream}})), "");
    }
    // Also where the work fails later, and on other routes.
    EXPECT_EQ(unknown_fields(complete({{"prompt", "refuse"}, {"foo", 1}})), "foo");
    const auto import = send({.method = "POST",
                              .target = "/hearth/v1/models/import",
                              .body = R"({"path":"/not/there","foo":1})"});
    EXPECT_EQ(unknown_fields(import), "foo");
}

TEST_F(FidelityTest, TheListOfUnknownFieldsCannotBreakTheHead) {
    const auto reply = complete(
        {{"prompt", "count 1"}, {"a\r\nSet-Cookie: x", 1}, {"b,c", 1}, {"\xC3\xA9", 1}, {"", 1}});
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(unknown_fields(reply), "a??Set-Cookie:?x, b?c, ??,");
    EXPECT_EQ(reply.header("set-cookie"), "");
    json::object many = {{"prompt", "count 1"}};
    for (int i = 0; i < 5000; ++i) many[std::string(300, 'x') + std::to_string(i)] = 1;
    const std::string list = unknown_fields(complete(many));
    EXPECT_GT(list.size(), 500U);
    EXPECT_LT(list.size(), 1024U);
    EXPECT_TRUE(list.ends_with(", ...")) << list;
    // One request's fields are not the next one's, on a connection that stays open.
    auto connection = client::Connection::open(daemon_.socket(), -1);
    ASSERT_TRUE(connection);
    for (const std::string body : {R"({"prompt":"count 1","foo":1})", R"({"prompt":"count 1"})"})
        ASSERT_TRUE(
            connection->write_all("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Length: " +
                                  std::to_string(body.size()) + "\r\n\r\n" + body));
    ASSERT_TRUE(
        connection->write_all("GET /health HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n"));
    std::string text;
    std::array<char, 4096> buffer;
    EXPECT_TRUE(becomes_true([&] {
        const ssize_t got =
            ::recv(connection->descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
        return text.ends_with(R"({"status":"ok"})");
    })) << text;
    const std::size_t first = text.find("X-Hearth-Unknown-Fields: foo");
    EXPECT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find("X-Hearth-Unknown-Fields", first + 1), std::string::npos) << text;
}

TEST_F(T026, ABodyThatIsNotUtf8IsRefusedAtTheByte) {
    for (const char* bytes : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
        const auto reply = send({.method = "POST",
                                 .target = "/v1/completions",
                                 .body = "{\"prompt\":\"sec" + std::string(bytes) + "ret\"}"});
        EXPECT_EQ(reply.status, 400);
        const auto body = protocol::parse_json(reply.body);
        EXPECT_EQ(body->at("error").at("code"), json::value("invalid_utf8"));
        EXPECT_NE(reply.body.find("byte 14"), std::string::npos) << reply.body;
        EXPECT_EQ(reply.body.find("sec"), std::string::npos);
    }
}

TEST_F(T079, BodiesThatAreNoRequestsGetAnErrorAndTheNextOneWorks) {
    std::string deep = R"({"prompt":)";
    for (int i = 0; i < 100'000; ++i) deep += '[';
    for (const std::string& body :
         {deep, std::string(R"({"prompt":"a","prompt":"b"})"),
          "{\"n\":" + std::string(1'000'000, '1') + "}", std::string(R"({"n":1e999})"),
          std::string(R"({"n":NaN})"), std::string("\xEF\xBB\xBF{\"prompt\":\"a\"}"),
          std::string("\xFF\xFE{\0}\0", 6), std::string(R"({"prompt":"a"} x)"),
          std::string(R"([{"prompt":"a"}])"), std::string("\"prompt\""), std::string("null")}) {
        SCOPED_TRACE(body.substr(0, 40));
        const auto reply = send({.method = "POST", .target = "/v1/completions", .body = body});
        EXPECT_EQ(reply.status, 400);
    }
    EXPECT_EQ(complete({{"prompt", "count 1"}}).status, 200);
}

}  // namespace
