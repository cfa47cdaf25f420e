// The real daemon's TCP door: hosts, origins, content types, names, and what it listens on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "daemon/net/tcp_port.h"
#include "ipc/protocol/version.h"
#include "tests/daemon/api/fake_model.h"
#include "tests/security/tcp_daemon.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

class DoorsTest : public TcpDaemonTest {};
class T069 : public TcpDaemonTest {};
class T070 : public TcpDaemonTest {};
class T071 : public TcpDaemonTest {};
class T085 : public TcpDaemonTest {};
class T087 : public TcpDaemonTest {};
class T089 : public TcpDaemonTest {};

TEST_F(T069, OtherHostsAreRefusedBeforeTheRouteWhateverTheMethod) {
    const std::string number = std::to_string(port());
    for (const std::string host :
         {"evil.com", "127.0.0.1.evil.com", "localhost.evil.com", "foo.local", "x.internal",
          "192.168.1.7", "0.0.0.0", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "[::1]",
          "localhost."})
        for (const char* method : {"GET", "POST", "DELETE", "OPTIONS", "PUT"}) {
            const RawReply reply = ask(std::string(method) + " /health HTTP/1.1\r\nHost: " + host +
                                       ":" + number + "\r\n" + authorization() + "\r\n\r\n");
            EXPECT_EQ(reply.status, 403) << method << " " << host;
            EXPECT_EQ(reply.code(), "forbidden");
        }
    for (const std::string& fields :
         {std::string(), "Host: 127.0.0.1:" + number + "\r\nHost: 127.0.0.1:" + number + "\r\n",
          std::string("Host: 127.0.0.1\r\n"), std::string("Host: 127.0.0.1:1\r\n")})
        EXPECT_EQ(ask("GET /health HTTP/1.1\r\n" + fields + "\r\n").status, 403) << fields;
    for (const std::string& host : {"127.0.0.1:" + number, "localhost:" + number})
        EXPECT_EQ(ask("GET /health HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status, 200);
    const std::string good = "\r\nHost: localhost:" + number + "\r\n\r\n";
    EXPECT_EQ(ask("GET http://evil.com/health HTTP/1.1" + good).status, 403);
    EXPECT_EQ(ask("GET http://localhost:" + number + "/health HTTP/1.1" + good).status, 200);
}

TEST_F(T070, WebPagesAreRefusedAndToldNothing) {
    for (const char* origin :
         {"https://evil.com", "null", "http://localhost:3000", "chrome-extension://abc", "file://"})
        for (const std::string& request : {head("GET", "/health"), head("GET", "/v1/models"),
                                           head("OPTIONS", "/v1/chat/completions") +
                                               "Access-Control-Request-Method: POST\r\n"}) {
            const RawReply reply = ask(request + "Origin: " + origin + "\r\n\r\n");
            EXPECT_EQ(reply.status, 403) << origin;
            EXPECT_EQ(reply.head.find("Access-Control"), std::string::npos) << reply.head;
        }
    const auto over_unix = daemon_.client().send(
        {.method = "GET", .target = "/health", .headers = {{"Origin", "https://evil.com"}}});
    ASSERT_TRUE(over_unix);
    EXPECT_EQ(over_unix->status, 403);
}

TEST_F(T070, AListedOriginGetsItsOwnValueInRepliesStreamsAndPreflights) {
    const TcpDaemon daemon({"--allow-origin", "http://localhost:3000, app://here"});
    const std::string origin = "Origin: app://here\r\n";
    const RawReply preflight = daemon.ask(daemon.head("OPTIONS", "/v1/chat/completions", false) +
                                          origin + "Access-Control-Request-Method: POST\r\n\r\n");
    EXPECT_EQ(preflight.status, 204);
    EXPECT_EQ(preflight.header("Access-Control-Allow-Origin"), "app://here");
    EXPECT_NE(preflight.header("Access-Control-Allow-Methods").find("POST"), std::string::npos);
    EXPECT_EQ(preflight.header("Access-Control-Allow-Headers"), "Authorization, *");
    EXPECT_EQ(preflight.header("Vary"), "Origin");
    EXPECT_EQ(preflight.header("Content-Length"), "");
    const RawReply models = daemon.ask(daemon.head("GET", "/v1/models") + origin + "\r\n");
    EXPECT_EQ(models.status, 200);
    EXPECT_EQ(models.header("Access-Control-Allow-Origin"), "app://here");
    const RawReply no_token = daemon.ask(daemon.head("GET", "/v1/models", false) + origin + "\r\n");
    EXPECT_EQ(no_token.status, 401);
    EXPECT_EQ(no_token.header("Access-Control-Allow-Origin"), "app://here");
    const RawReply plain = daemon.ask(daemon.head("GET", "/v1/models") + "\r\n");
    EXPECT_EQ(plain.header("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(daemon.ask(daemon.head("GET", "/health") + "Origin: app://other\r\n\r\n").status,
              403);
}

TEST_F(T071, NothingHappensForOtherTypesMethodsAndSites) {
    daemon_.import(fake_model_file(daemon_.running(), "fake"));
    const std::string prompt = R"({"prompt":"count 1"})";
    const std::string size = "Content-Length: " + std::to_string(prompt.size()) + "\r\n\r\n";
    for (const char* type : {"text/plain", "application/x-www-form-urlencoded",
                             "multipart/form-data; boundary=x", "text/plain;application/json"})
        EXPECT_EQ(
            ask(head("POST", "/v1/completions") + "Content-Type: " + type + "\r\n" + size + prompt)
                .status,
            415)
            << type;
    EXPECT_EQ(
        ask(head("POST", "/v1/completions") + "Content-Encoding: gzip\r\n" + size + prompt).status,
        415);
    for (const char* method : {"GET", "HEAD", "PUT", "PATCH"})
        for (const char* target :
             {"/hearth/v1/models/fake-q4-1/load", "/hearth/v1/models/fake-q4-1/unload",
              "/hearth/v1/shutdown", "/v1/completions", "/hearth/v1/token/rotate"}) {
            RawSocket socket = connect();
            ASSERT_TRUE(socket.write(head(method, target) + "\r\n"));
            const RawReply reply = socket.read(method == std::string("HEAD"));
            EXPECT_EQ(reply.status, 405) << method << " " << target;
            EXPECT_FALSE(reply.header("Allow").empty());
        }
    for (const char* name : {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"})
        EXPECT_EQ(
            ask(head("GET", "/hearth/v1/models/fake-q4-1") + name + ": DELETE\r\n\r\n").status,
            200);
    for (const char* target : {"/v1/completions", "/hearth/v1/models/fake-q4-1/load"})
        EXPECT_EQ(
            ask(head("POST", target) + "Sec-Fetch-Site: cross-site\r\n" + size + prompt).status,
            403);
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    EXPECT_EQ(status->installed, 1);
    EXPECT_TRUE(status->models.empty());
}

TEST_F(T085, NamesThatLookLikePathsAreSimplyNotFound) {
    const std::filesystem::path secret = daemon_.root() / "secret";
    std::ofstream(secret) << "canary-5d1f";
    const std::string there = secret.string();
    std::string escaped;
    for (const char c : there) escaped += c == '/' ? std::string("%2f") : std::string(1, c);
    std::vector<std::string> names = {"..",
                                      "%2e%2e",
                                      "..%2f..%2fetc%2fpasswd",
                                      "%2fetc%2fpasswd",
                                      "%2fno%2fsuch",
                                      "a%00b",
                                      "%00",
                                      "..%5c..%5cx",
                                      "a%ff",
                                      "%c3%a9",
                                      "e%cc%81",
                                      ".%2f.%2f",
                                      "%252e%252e",
                                      escaped,
                                      escaped + "-not-there",
                                      std::string(8000, 'a')};
    for (const std::string& name : names)
        for (const auto& [method, tail] : {std::pair("GET", ""),
                                           {"DELETE", ""},
                                           {"POST", "/load"},
                                           {"POST", "/unload"},
                                           {"POST", "/default"}}) {
            SCOPED_TRACE(std::string(method) + " " + name.substr(0, 60) + tail);
            const RawReply reply =
                ask(head(method, "/hearth/v1/models/" + name + tail) + "Content-Length: 0\r\n\r\n");
            EXPECT_EQ(reply.status, 404);
            EXPECT_EQ(reply.code(), "not_found");
            EXPECT_EQ(reply.body.find("canary"), std::string::npos);
        }
    EXPECT_EQ(ask(head("GET", "/v1/models/" + std::string(64U << 10U, 'a')) + "\r\n").status, 414);
    EXPECT_EQ(ask(head("GET", "/v1/models/../../etc/passwd") + "\r\n").status, 404);
    EXPECT_TRUE(std::filesystem::exists(secret));
}

TEST_F(T087, WhatProxiesSayIsIgnored) {
    for (const std::string name : {"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
                                   "X-Real-IP", "Forwarded", "Via", "X-Original-URL"})
        for (const std::string& value :
             {std::string(), std::string("127.0.0.1"), std::string(",,,;;=\""),
              std::string("for=\"[::1]\";host=localhost"), std::string(4000, ',')}) {
            const std::string field = name + ": " + value + "\r\n\r\n";
            EXPECT_EQ(ask(head("GET", "/v1/models") + field).status, 200) << name;
            EXPECT_EQ(ask(head("GET", "/v1/models", false) + field).status, 401) << name;
            EXPECT_EQ(ask("GET /health HTTP/1.1\r\nHost: evil.com\r\n" + field).status, 403);
        }
}

// Addresses on which the process listens for TCP, in hexadecimal, as the kernel lists them. Root
// alone may look (T160).
std::vector<std::string> listening_addresses(pid_t pid) {
    std::string inodes;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
        std::error_code ignored;
        inodes += std::filesystem::read_symlink(entry.path(), ignored).string() + " ";
    }
    std::vector<std::string> addresses;
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream file(table);
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line)) {
            std::istringstream fields(line);
            std::string slot, local, remote, state, skipped, inode;
            fields >> slot >> local >> remote >> state;
            for (int i = 0; i < 5; ++i) fields >> skipped;
            fields >> inode;
            if (state == "0A" && inodes.find("socket:[" + inode + "]") != std::string::npos)
                addresses.push_back(local.substr(0, local.find(':')));
        }
    }
    return addresses;
}

TEST_F(T089, OnlyTheLoopbackAddressIsListenedOn) {
    if (::geteuid() == 0) {
        EXPECT_EQ(listening_addresses(daemon_.pid()), std::vector<std::string>{"0100007F"});
    }
    // There is no setting for an address, so nothing else can be asked for.
    const std::vector<std::string> wishes[] = {
        {"--address", "0.0.0.0"}, {"--host", "::"},        {"--bind", "192.168.1.7"},
        {"--tcp", "0.0.0.0"},     {"--tcp", "::"},         {"--port", "0.0.0.0:7411"},
        {"--port", "65536"},      {"--allow-origin", "*"}, {"--allow-origin", "null"},
    };
    for (const auto& wish : wishes)
        EXPECT_EQ(daemon_.run_another(wish), protocol::kExitUsage) << wish[0] << " " << wish[1];
    std::filesystem::create_directories(daemon_.root() / "CONFIG/hearth");
    const auto config = daemon_.root() / "CONFIG/hearth/config.toml";
    for (const char* line : {"address = \"0.0.0.0\"\n", "tcp = \"0.0.0.0\"\n"}) {
        std::ofstream(config) << line;
        EXPECT_EQ(daemon_.run_another(), protocol::kExitUsage) << line;
    }
    std::filesystem::remove(config);
}

TEST(T151, APortInUseLeavesTheUnixSocketAndSaysWhy) {
    auto other = net::TcpPort::listen(0);
    ASSERT_TRUE(other);
    const std::string number = other->address().substr(other->address().rfind(':') + 1);
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {"--port", number}});
    const auto status = daemon.client().status();
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->tcp.on);
    EXPECT_EQ(status->tcp.base_url, "");
    EXPECT_NE(status->tcp.reason.find("another program uses 127.0.0.1:" + number),
              std::string::npos)
        << status->tcp.reason;
    if (::geteuid() == 0) {
        EXPECT_TRUE(listening_addresses(daemon.pid()).empty());
    }
}

TEST(T151, ASwitchedOffDoorIsNotOpened) {
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {"--tcp", "off"}});
    const auto status = daemon.client().status();
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->tcp.on);
    EXPECT_NE(status->tcp.reason.find("'tcp'"), std::string::npos);
    if (::geteuid() == 0) {
        EXPECT_TRUE(listening_addresses(daemon.pid()).empty());
    }
    EXPECT_FALSE(std::filesystem::exists(daemon.root() / "CONFIG/hearth/token"));
}

TEST_F(DoorsTest, EveryRouteForTheOwnerIsRefusedOverTcpAndWorksOverTheUnixSocket) {
    const RawReply refused = ask(head("POST", "/hearth/v1/models/import") +
                                 "Content-Length: 40\r\n\r\n");  // the body is not waited for
    EXPECT_EQ(refused.status, 403);
    EXPECT_NE(refused.body.find("Unix socket"), std::string::npos);
    EXPECT_EQ(ask(head("GET", "/hearth/v1/token") + "\r\n").status, 403);
    EXPECT_EQ(ask(head("POST", "/hearth/v1/shutdown") + "\r\n").status, 403);
    EXPECT_TRUE(daemon_.client().get("/hearth/v1/token"));
}

}  // namespace
