// HTTP requests, whole and in pieces, good and bad.
#include "daemon/net/request_parser.h"

#include <gtest/gtest.h>

#include "daemon/net/http_text.h"

using namespace hearth::net;

namespace {

constexpr std::size_t kLimit = 1000;

// Feeds `bytes` in pieces of `step`; gives the parser's last word.
ParseState parse(RequestParser& parser, const std::string& bytes, std::size_t step,
                 std::string& rest) {
    ParseState state = ParseState::need_more;
    rest.clear();
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        rest += bytes.substr(at, step);
        if (state != ParseState::need_more) continue;
        state = parser.feed(rest);
        if (state != ParseState::head_done) continue;
        state = parser.accept_body(kLimit);
        if (state == ParseState::need_more) state = parser.feed(rest);
    }
    return state;
}

int refused_with(const std::string& bytes) {
    int status = 0;
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
        RequestParser parser;
        std::string rest;
        const ParseState state = parse(parser, bytes, step, rest);
        EXPECT_EQ(state, ParseState::failed) << bytes.substr(0, 60) << " in steps of " << step;
        if (state != ParseState::failed) return 0;
        EXPECT_TRUE(status == 0 || status == parser.failure().status);
        status = parser.failure().status;
    }
    return status;
}

TEST(RequestParser, ReadsTheSameRequestHoweverItIsCut) {
    const std::string bytes =
        "POST /v1/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Content-Length: 5\r\n\r\nhelloGET";
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        RequestParser parser;
        std::string rest;
        ASSERT_EQ(parse(parser, bytes, step, rest), ParseState::complete) << step;
        EXPECT_EQ(parser.head().head.method, "POST");
        EXPECT_EQ(parser.head().head.target, "/v1/x?y=1");
        EXPECT_EQ(parser.head().head.content_type, "application/json");
        EXPECT_TRUE(parser.head().keep_alive);
        EXPECT_EQ(parser.take_body(), "hello");
        EXPECT_EQ(rest, "GET");
    }
}

TEST(RequestParser, ReadsChunkedBodies) {
    const std::string bytes =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n";
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        RequestParser parser;
        std::string rest;
        ASSERT_EQ(parse(parser, bytes, step, rest), ParseState::complete) << step;
        EXPECT_EQ(parser.take_body(), "abcde");
    }
}

// The end of an empty body came in pieces of less than five bytes: Beast 1.81 aborted.
TEST(T075, AnEmptyChunkedBodyIsReadHoweverItIsCut) {
    const std::string bytes =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET";
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        RequestParser parser;
        std::string rest;
        ASSERT_EQ(parse(parser, bytes, step, rest), ParseState::complete) << step;
        EXPECT_EQ(parser.take_body(), "");
        EXPECT_EQ(rest, "GET");
    }
}

TEST(RequestParser, BodiesOverTheLimitAre413) {
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
    EXPECT_EQ(refused_with(head + "Content-Length: 1001\r\n\r\n"), 413);
    EXPECT_EQ(refused_with(head + "Content-Length: 9223372036854775807\r\n\r\n"), 413);
    std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 1001; ++i) chunks += "1\r\nx\r\n";
    EXPECT_EQ(refused_with(chunks), 413);
}

TEST(RequestParser, HeadsOverTheLimitAre431) {
    EXPECT_EQ(refused_with("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n"), 431);
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 10'000; ++i) many += "A: b\r\n";
    EXPECT_EQ(refused_with(many + "\r\n"), 431);
}

TEST(RequestParser, WhatIsNotHttpIs400) {
    for (const std::string bytes : {
             "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
             "GET /\r\n\r\n",
             "GET / HTTP/9.9\r\n\r\n",
             "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
             "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
             "GET / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n",
             "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
             "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
             "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
             "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
             "\x16\x03\x01\x02\r\n\r\n",
         })
        EXPECT_EQ(refused_with(bytes), 400) << bytes;
    EXPECT_EQ(refused_with(std::string("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", 26)), 400);
}

TEST(RequestParser, OldClientsCloseAndCarefulOnesWait) {
    RequestParser old_one;
    std::string rest = "GET / HTTP/1.0\r\n\r\n";
    ASSERT_EQ(old_one.feed(rest), ParseState::head_done);
    EXPECT_EQ(old_one.head().version, 10);
    EXPECT_FALSE(old_one.head().keep_alive);
    EXPECT_EQ(old_one.accept_body(0), ParseState::complete);
    RequestParser careful;
    rest = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n";
    ASSERT_EQ(careful.feed(rest), ParseState::head_done);
    EXPECT_TRUE(careful.head().expects_continue);
    EXPECT_EQ(careful.accept_body(10), ParseState::need_more);
}

TEST(HttpText, WritesRepliesAndEvents) {
    hearth::api::Reply reply{.status = 405, .body = "{}"};
    reply.headers.emplace_back("Allow", "GET");
    const std::string text = whole_reply(reply, {.keep_alive = false, .origin = {}});
    EXPECT_TRUE(text.starts_with("HTTP/1.1 405 Method Not Allowed\r\n")) << text;
    EXPECT_NE(text.find("\r\nAllow: GET\r\n"), std::string::npos);
    EXPECT_NE(text.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\r\nContent-Length: 2\r\n\r\n{}"));
    EXPECT_EQ(event({.data = "abc"}, true), "b\r\ndata: abc\n\n\r\n");
    EXPECT_EQ(event({.data = "abc"}, false), "data: abc\n\n");
    EXPECT_EQ(event_stream_end(true), "0\r\n\r\n");
}

TEST(HttpText, WhoIsTurnedAwayIsToldWhenToComeAgain) {
    for (const int status : {429, 503}) {
        const std::string text = whole_reply({.status = status, .body = "{}"}, {.origin = {}});
        EXPECT_NE(text.find("\r\nRetry-After: 1\r\n"), std::string::npos) << text;
    }
    EXPECT_EQ(whole_reply({.status = 500}, {.origin = {}}).find("Retry-After"), std::string::npos);
    const std::string head = whole_reply({.body = "{}"}, {.head_only = true, .origin = "http://a"});
    EXPECT_TRUE(head.ends_with("\r\nContent-Length: 2\r\n\r\n")) << head;
    EXPECT_NE(head.find("\r\nAccess-Control-Allow-Origin: http://a\r\n"), std::string::npos);
    EXPECT_EQ(head.find("\r\nServer:"), std::string::npos);
}

}  // namespace
