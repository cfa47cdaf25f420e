// The socket as a client sees it: errors, limits, keep-alive, and clients that misbehave.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <thread>

#include "ipc/protocol/version.h"
#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

class HttpTest : public FakeDaemonTest {
protected:
    client::Connection connect() const {
        auto connection = client::Connection::open(daemon_.socket(), -1);
        EXPECT_TRUE(connection);
        return *std::move(connection);
    }
    // What the daemon sends until it closes, or until `count` replies have begun.
    static std::string read_replies(const client::Connection& connection, int count) {
        std::string text;
        std::array<char, 4096> buffer;
        pollfd wait{connection.descriptor(), POLLIN, 0};
        while (::poll(&wait, 1, 10'000) > 0) {
            const ssize_t got = ::recv(connection.descriptor(), buffer.data(), buffer.size(), 0);
            if (got <= 0) break;
            text.append(buffer.data(), static_cast<std::size_t>(got));
            int begun = 0;
            for (std::size_t at = text.find("HTTP/1.1 "); at != std::string::npos;
                 at = text.find("HTTP/1.1 ", at + 1))
                ++begun;
            if (begun >= count && text.ends_with("}")) break;
        }
        return text;
    }
};

TEST_F(HttpTest, EveryRefusalIsAnErrorObjectWithItsStatus) {
    import_fake();
    const struct {
        const char* method;
        const char* target;
        const char* body;
        int status;
        const char* code;
        const char* param;
    } cases[] = {
        {"POST", "/hearth/v1/models/fake-q4-1/unload", "", 404, "not_found", ""},
        {"GET", "/nothing", "", 404, "route_not_found", ""},
        {"POST", "/health", "", 405, "method_not_allowed", ""},
        {"GET", "/health", "{}", 413, "too_large", ""},
        {"POST", "/v1/completions", "", 400, "bad_input", ""},
        {"POST", "/v1/completions", "{", 400, "bad_input", ""},
        {"POST", "/v1/completions", "[]", 400, "bad_input", ""},
        {"POST", "/v1/completions", "{\"prompt\":\"\xFF\"}", 400, "invalid_utf8", ""},
        {"POST", "/v1/completions", R"({"prompt":"count 1","n":9})", 400, "bad_input", "n"},
        {"POST", "/v1/completions", R"({"prompt":"count 1","model":"gpt"})", 404, "not_found",
         "model"},
        {"POST", "/v1/completions", R"({"prompt":"refuse"})", 400, "context_exceeded", "prompt"},
        {"POST", "/v1/chat/completions", R"({"messages":[]})", 400, "bad_input", "messages"},
        {"GET", "/v1/models/gpt", "", 404, "not_found", ""},
        {"GET", "/hearth/v1/models/gpt", "", 404, "not_found", ""},
        {"DELETE", "/hearth/v1/models/gpt", "", 404, "not_found", ""},
        {"POST", "/hearth/v1/models/gpt/load", "", 404, "not_found", ""},
        {"POST", "/hearth/v1/models/import", R"({"path":"a"})", 400, "bad_input", "path"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(std::string(c.method) + " " + c.target + " " + c.body);
        const auto reply = send({.method = c.method, .target = c.target, .body = c.body});
        EXPECT_EQ(reply.status, c.status);
        EXPECT_EQ(reply.header("content-type"), "application/json");
        const auto body = protocol::parse_json(reply.body);
        ASSERT_TRUE(body) << reply.body;
        const auto& error = body->at("error");
        EXPECT_EQ(error.at("code").as_string(), c.code);
        EXPECT_EQ(error.at("param").is_null() ? "" : error.at("param").as_string(), c.param);
        EXPECT_FALSE(error.at("message").as_string().empty());
    }
    EXPECT_TRUE(is_idle());
}

TEST_F(HttpTest, AnUnknownModelIsAnsweredWithTheKnownOnes) {
    import_fake();
    const auto reply = daemon_.client().model("gpt");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().message.find("fake-q4-1"), std::string::npos);
}

TEST_F(HttpTest, ABodyOverTheLimitIsRefusedBeforeItIsRead) {
    auto connection = connect();
    ASSERT_TRUE(
        connection.write_all("POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
                             "Content-Length: 33554433\r\n\r\n"));
    const std::string text = read_replies(connection, 1);
    EXPECT_TRUE(text.starts_with("HTTP/1.1 413 ")) << text;
    EXPECT_NE(text.find("Connection: close"), std::string::npos);
}

TEST_F(HttpTest, LargeBodiesAreTaken) {
    import_fake();
    std::string body(20U << 20U, ' ');
    body += R"({"prompt":"count 2"})";
    const auto reply = send({.method = "POST", .target = "/v1/completions", .body = body});
    EXPECT_EQ(reply.status, 200) << reply.body;
}

TEST_F(HttpTest, OneConnectionServesManyRequestsEvenWhenTheyComeAtOnce) {
    auto connection = connect();
    const std::string get = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_TRUE(connection.write_all(get));
    EXPECT_TRUE(read_replies(connection, 1).ends_with(R"({"status":"ok"})"));
    ASSERT_TRUE(connection.write_all(get + get + get));
    const std::string text = read_replies(connection, 3);
    EXPECT_EQ(text.size() % 3, 0U);
    ASSERT_TRUE(
        connection.write_all("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    EXPECT_NE(read_replies(connection, 2).find("Connection: close"), std::string::npos);
}

TEST_F(HttpTest, ACarefulClientIsToldToGoOn) {
    import_fake();
    auto connection = connect();
    ASSERT_TRUE(
        connection.write_all("POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
                             "Expect: 100-continue\r\nContent-Length: 20\r\n\r\n"));
    std::array<char, 64> buffer;
    pollfd wait{connection.descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
    const ssize_t got = ::recv(connection.descriptor(), buffer.data(), buffer.size(), 0);
    EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(got)),
              "HTTP/1.1 100 Continue\r\n\r\n");
    ASSERT_TRUE(connection.write_all(R"({"prompt":"count 1"})"));
    EXPECT_TRUE(read_replies(connection, 1).starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpTest, GarbageEndsItsConnectionOnly) {
    for (const std::string bytes :
         {"GET / HTTP/9\r\n\r\n", "\x16\x03\x01\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
        auto connection = connect();
        ASSERT_TRUE(connection.write_all(bytes));
        const std::string text = read_replies(connection, 1);
        EXPECT_TRUE(text.starts_with("HTTP/1.1 400 ")) << text;
    }
    EXPECT_TRUE(daemon_.client().answers());
}

TEST_F(HttpTest, ManyConnectionsAtOnceAreServed) {
    std::vector<client::Connection> idle;
    for (int i = 0; i < 300; ++i) idle.push_back(connect());
    EXPECT_TRUE(daemon_.client().answers());
}

TEST_F(HttpTest, TheSocketIsPrivateAndASecondDaemonSaysWhoRuns) {
    struct stat info{};
    ASSERT_EQ(::stat(daemon_.socket().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_EQ(daemon_.run_another(), protocol::kExitAlreadyRunning);
    const std::string words = text_of(daemon_.root() / "stderr");
    EXPECT_NE(words.find("process " + std::to_string(daemon_.pid())), std::string::npos) << words;
    EXPECT_TRUE(daemon_.client().answers());
}

TEST_F(HttpTest, BadSettingsAreErrorsThatNameTheKey) {
    EXPECT_EQ(daemon_.run_another({"--threads", "many"}), protocol::kExitUsage);
    EXPECT_EQ(daemon_.run_another({"--colour", "red"}), protocol::kExitUsage);
    std::filesystem::create_directories(daemon_.root() / "CONFIG/hearth");
    std::ofstream(daemon_.root() / "CONFIG/hearth/config.toml")
        << "threads = 2\nidle_unload = -1\n";
    EXPECT_EQ(daemon_.run_another(), protocol::kExitUsage);
    const std::string words = text_of(daemon_.root() / "stderr");
    for (const char* part :
         {"'threads' must be", "no option --colour", "config.toml:2", "'idle_unload' must be"})
        EXPECT_NE(words.find(part), std::string::npos) << part << " in " << words;
}

TEST_F(HttpTest, ItStopsOnSigtermAndOnRequest) {
    EXPECT_EQ(daemon_.terminate(), 0);
    EXPECT_FALSE(std::filesystem::exists(daemon_.socket()));
    RunningDaemon other({.worker = FAKE_WORKER, .arguments = {}});
    EXPECT_TRUE(other.client().shutdown());
    EXPECT_TRUE(becomes_true([&] { return !std::filesystem::exists(other.socket()); }));
}

TEST_F(HttpTest, AnIdleDaemonIsSmall) {
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    EXPECT_GT(status->resident_bytes, 0U);
    EXPECT_TRUE(kSanitized || status->resident_bytes < 30U << 20U) << status->resident_bytes;
}

}  // namespace
