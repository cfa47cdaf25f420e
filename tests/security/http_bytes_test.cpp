// Bytes that are no request, or two at once: each ends its own connection with a typed error, and
// nothing of it is ever taken for the next request.
#include <gtest/gtest.h>

#include "tests/security/served.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

class HttpBytes : public ::testing::Test {
protected:
    // Sends `bytes` and looks at the only answer; then the connection must end.
    void expect_refusal(const std::string& bytes, const std::vector<int>& statuses) {
        SCOPED_TRACE(bytes.substr(0, 120));
        const int before = served_.routes().handled;
        RawSocket socket = served_.over_tcp();
        ASSERT_TRUE(socket.is_open());
        (void)socket.write(bytes);  // may be cut off by the refusal
        const RawReply reply = socket.read();
        EXPECT_NE(std::find(statuses.begin(), statuses.end(), reply.status), statuses.end())
            << reply.status;
        EXPECT_FALSE(reply.code().empty()) << reply.body;
        EXPECT_EQ(reply.header("Connection"), "close");
        EXPECT_EQ(socket.read_to_end(), "");
        EXPECT_EQ(served_.routes().handled, before);
    }
    std::string post(const std::string& fields, const std::string& body) const {
        return served_.head("POST", "/echo") + fields + "\r\n" + body;
    }

    Served served_;
};

class T075 : public HttpBytes {};
class T076 : public HttpBytes {};

// What would be answered if the bytes after a broken body were read as a request.
std::string smuggled() { return "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

TEST_F(T075, BrokenLengthsAndChunksAreRefusedAndSmuggleNothing) {
    const struct {
        std::string fields;
        std::string body;
        std::vector<int> statuses;
    } cases[] = {
        {"Content-Length: 9223372036854775808\r\n", "", {413}},
        {"Content-Length: 18446744073709551616\r\n", "", {400}},
        {"Content-Length: -1\r\n", smuggled(), {400}},
        {"Content-Length: +5\r\n", "hello", {400}},
        {"Content-Length: 0x5\r\n", "hello", {400}},
        {"Content-Length: 5, 6\r\n", "hello", {400}},
        {"Content-Length: 5\r\nContent-Length: 6\r\n", "hello" + smuggled(), {400}},
        {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled(), {400}},
        {"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n" + smuggled(), {400}},
        {"Transfer-Encoding: gzip\r\n", smuggled(), {400}},
        {"Transfer-Encoding: identity\r\n", smuggled(), {400}},
        {"Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n", "abc" + smuggled(), {400}},
        {"Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", {400}},
        {"Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n", {400}},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", "0\r\n\r\n", {400}},
        {"Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFFFF\r\n", {400}},
        {"Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFF\r\n", {400, 413}},
        {"Transfer-Encoding: chunked\r\n", "-1\r\nx\r\n", {400}},
        {"Transfer-Encoding: chunked\r\n", "zz\r\nab\r\n", {400}},
        {"Transfer-Encoding: chunked\r\n", "1\r\nab\r\n0\r\n\r\n" + smuggled(), {400}},
        {"Transfer-Encoding: chunked\r\n", "1\r\naX\n0\r\n\r\n" + smuggled(), {400}},
        {"Transfer-Encoding: chunked\r\n", "2\nab\r\n0\r\n\r\n" + smuggled(), {400}},
        {"Transfer-Encoding: chunked\r\n", "1;" + std::string(40'000, 'e'), {400}},
        {"Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(40'000, 't'), {400, 431}},
    };
    for (const auto& c : cases) expect_refusal(post(c.fields, c.body), c.statuses);
    const std::string old = "POST /echo HTTP/1.0\r\n" + served_.host() + served_.authorization() +
                            "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    expect_refusal(old, {400});
    EXPECT_EQ(served_.get("/health").status, 200);
}

TEST_F(T075, AMillionTinyChunksAreReadInLinearTimeUpToTheLimit) {
    std::string chunks;
    for (int i = 0; i < 1 << 20; ++i) chunks += "1\r\nx\r\n";
    RawSocket socket = served_.over_tcp();
    ASSERT_TRUE(socket.write(post("Transfer-Encoding: chunked\r\n", chunks + "0\r\n\r\n")));
    const RawReply reply = socket.read();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.size(), 1U << 20U);
    expect_refusal(post("Transfer-Encoding: chunked\r\n", chunks + "1\r\nx\r\n"), {413});
}

TEST_F(T075, ChunkExtensionsAndTrailersAreReadAndForgotten) {
    RawSocket socket = served_.over_tcp();
    ASSERT_TRUE(socket.write(post("Transfer-Encoding: chunked\r\n",
                                  "3;a=b;c=\"d\"\r\nabc\r\n0\r\nHost: evil.com\r\n\r\n") +
                             served_.head("GET", "/health") + "\r\n"));
    EXPECT_EQ(socket.read().body, "abc");
    EXPECT_EQ(socket.read().body, "ok");
}

TEST_F(T076, HeadsThatAreTooLargeOrMalformedAreRefusedAndEndTheConnection) {
    const std::string get = served_.head("GET", "/health");
    std::string many = get;
    for (int i = 0; i < 10'000; ++i) many += "A: b\r\n";
    std::string hundred_and_one = "GET /health HTTP/1.1\r\n" + served_.host();
    for (int i = 0; i < 100; ++i) hundred_and_one += "A: b\r\n";
    const struct {
        std::string bytes;
        std::vector<int> statuses;
    } cases[] = {
        {get + "X: " + std::string(1U << 20U, 'a') + "\r\n\r\n", {431}},
        {many + "\r\n", {431}},
        {hundred_and_one + "\r\n", {431}},
        {"GET /" + std::string(64U << 10U, 'a') + " HTTP/1.1\r\n\r\n", {414}},
        {served_.head("GET", "/" + std::string(8U << 10U, 'a')) + "\r\n", {414}},
        {get + std::string("A: b\0c\r\n\r\n", 10), {400}},
        {"GET /hea\x01lth HTTP/1.1\r\n\r\n", {400}},
        {get + "A: b\nB: c\r\n\r\n", {400}},
        {"GET /health HTTP/1.1\n" + served_.host() + "\r\n", {400}},
        {get + "A: b\r\n folded\r\n\r\n", {400}},
        {get + "A: b\r\n\tfolded\r\n\r\n", {400}},
        {"GET /health HTTP/1.1\r\n " + served_.host() + "\r\n", {400}},
        {get + "A : b\r\n\r\n", {400}},
        {get + ": b\r\n\r\n", {400}},
        {get + "A\r\n\r\n", {400}},
        {"GET /health\r\n\r\n", {400}},
        {"GET  /health HTTP/1.1\r\n\r\n", {400}},
        {"GET /health HTTP/2.0\r\n\r\n", {400}},
        {"GET /health HTTP/1.1 \r\n\r\n", {400}},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}},
        {"\r\n\r\n\r\n\r\nGET", {400}},
    };
    for (const auto& c : cases) expect_refusal(c.bytes, c.statuses);
    EXPECT_EQ(served_.get("/health").status, 200);
}

TEST_F(T076, WhatIsJustWithinTheLimitsIsServed) {
    std::string hundred = served_.head("GET", "/health");
    for (int i = 0; i < 98; ++i) hundred += "A: b\r\n";
    RawSocket socket = served_.over_tcp();
    ASSERT_TRUE(socket.write(hundred + "\r\n" + served_.head("GET", "/health") +
                             "X: " + std::string(16'000, 'a') + "\r\n\r\n"));
    EXPECT_EQ(socket.read().status, 200);
    EXPECT_EQ(socket.read().status, 200);
}

class T084 : public HttpBytes {};

TEST_F(T084, PipelinedRequestsAreAnsweredInOrder) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) {
        const std::string body = std::to_string(i);
        bytes += post("Content-Length: " + std::to_string(body.size()) + "\r\n", body);
    }
    RawSocket socket = served_.over_tcp();
    ASSERT_TRUE(socket.write(bytes));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(socket.read().body, std::to_string(i));
}

TEST_F(T084, ErrorsKeepTheConnectionWhereTheNextRequestCanBeFound) {
    RawSocket socket = served_.over_tcp();
    const std::string no_token = "GET /echo HTTP/1.1\r\n" + served_.host() + "\r\n";
    const struct {
        std::string bytes;
        int status;
    } cases[] = {
        {served_.head("GET", "/nothing") + "\r\n", 404},
        {no_token, 401},
        {"GET /health HTTP/1.1\r\nHost: evil.com\r\n\r\n", 403},
        {served_.head("POST", "/nothing") + "Content-Length: 0\r\n\r\n", 404},
        {post("Content-Length: 2\r\n", "ab"), 200},
    };
    for (int round = 0; round < 3; ++round)
        for (const auto& c : cases) {
            ASSERT_TRUE(socket.write(c.bytes));
            const RawReply reply = socket.read();
            EXPECT_EQ(reply.status, c.status);
            EXPECT_EQ(reply.header("Connection"), "keep-alive") << c.bytes;
        }
    // A body that was not read hides where the next request begins.
    ASSERT_TRUE(socket.write(served_.head("POST", "/nothing") + "Content-Length: 5\r\n\r\nhello" +
                             served_.head("GET", "/health") + "\r\n"));
    const RawReply last = socket.read();
    EXPECT_EQ(last.status, 404);
    EXPECT_EQ(last.header("Connection"), "close");
    EXPECT_EQ(socket.read_to_end(), "");
}

TEST_F(T084, AHeadRequestGetsNoBodyAndTheNextReplyIsFound) {
    RawSocket socket = served_.over_tcp();
    ASSERT_TRUE(socket.write(served_.head("HEAD", "/nothing") + "\r\n" +
                             served_.head("GET", "/health") + "\r\n"));
    EXPECT_EQ(socket.read(/*to_head=*/true).status, 404);
    EXPECT_EQ(socket.read().body, "ok");
}

TEST_F(T084, TenThousandRequestsOnOneConnectionLeakNothing) {
    RawSocket socket = served_.over_tcp();
    const std::string get = served_.head("GET", "/health") + "\r\n";
    std::string ten;
    for (int i = 0; i < 10; ++i) ten += get;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(socket.write(ten));
        for (int j = 0; j < 10; ++j) ASSERT_EQ(socket.read().status, 200);
    }
    EXPECT_EQ(served_.connections(), 1U);
    EXPECT_EQ(served_.routes().handled, 10'000);
    socket.close();
}

}  // namespace
