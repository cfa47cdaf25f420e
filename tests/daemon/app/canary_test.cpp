// Words that nobody may see again are planted in the environment, in prompts and in paths; then as
// many error paths as there are, and a look into everything that came out.
#include <cstdlib>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

constexpr const char* kSecret = "canary-environment-7731";
constexpr const char* kPrompt = "canary-prompt-9042";
constexpr const char* kPath = "canary-path-5518";
constexpr const char* kToken = "hearth-canaryTOKEN0123456789abcdefghijklm";

class CanaryTest : public ::testing::Test {
protected:
    CanaryTest() {
        ::setenv("PLANTED_SECRET", kSecret, 1);
        daemon_ = std::make_unique<RunningDaemon>(
            DaemonOptions{.worker = FAKE_WORKER, .arguments = {"--log-level", "debug"}});
        ::unsetenv("PLANTED_SECRET");
        daemon_->import(fake_model_file(*daemon_, "fake"));
    }
    const client::Client& client() const { return daemon_->client(); }
    std::string post(const std::string& target, const std::string& body,
                     const std::string& token = kToken) const {
        client::HttpRequest request{.method = "POST", .target = target, .body = body};
        request.headers.emplace_back("Authorization", "Bearer " + token);
        const auto reply = client().send(request);
        return reply ? reply->body : "";
    }
    std::string get(const std::string& target) const {
        const auto reply = client().send({.method = "GET", .target = target});
        return reply ? reply->body : "";
    }
    // What a first client has planted.
    void plant() const {
        for (const char* behaviour : {"count 3", "refuse", "die 2", "jump", "early"}) {
            const std::string prompt = std::string(behaviour) + " " + kPrompt;
            post("/v1/completions", R"({"prompt":")" + prompt + R"(","user":"planter"})");
            post("/v1/completions", R"({"stream":true,"prompt":")" + prompt + "\"}");
        }
        post("/hearth/v1/models/import", R"({"path":"/)" + std::string(kPath) + "/x.gguf\"}");
    }
    // Every kind of refusal, for a second client that planted nothing.
    std::vector<std::string> provoke() const {
        std::vector<std::string> replies;
        for (const char* body :
             {"", "{", "[]", "null", "{\"prompt\":1}", "{\"prompt\":\"\xFF\"}",
              R"({"prompt":"refuse"})", R"({"prompt":"die 1"})", R"({"prompt":"jump 1"})",
              R"({"prompt":"count 1","n":99})", R"({"prompt":"count 1","model":"none"})",
              R"({"prompt":"count 1","temperature":"hot"})", R"({"messages":[]})",
              R"({"messages":[{"role":"user"}]})", R"({"path":"relative"})",
              R"({"path":"/nowhere"})", R"({"text":5})", R"({"ids":[-1]})"})
            for (const char* target :
                 {"/v1/completions", "/v1/chat/completions", "/hearth/v1/models/import",

                  "/hearth/v1/models/none/load", "/hearth/v1/models/none/unload", "/health",
                  "/none"})
                replies.push_back(post(target, body));
        for (const char* target :
             {"/", "/none", "/v1/models", "/v1/models/none", "/hearth/v1/status",
              "/hearth/v1/models", "/hearth/v1/models/none", "/metrics",
              "/hearth/v1/metrics/history?window=none", "/hearth/v1/metrics/history?window=1m",
              "/hearth/v1/events?after=none"})
            replies.push_back(get(target));
        return replies;
    }
    static std::uint64_t number_of(const client::ServerEvent& event) {
        return std::strtoull(event.id.c_str(), nullptr, 10);
    }
    std::uint64_t last_change() const {
        std::uint64_t number = 0;
        const auto read = client().events("/hearth/v1/events",
                                          [&](const client::ServerEvent& event, const auto&) {
                                              number = number_of(event);
                                              return false;
                                          });
        EXPECT_TRUE(read);
        return number;
    }
    std::string environment_of_worker() const {
        protocol::CompletionRequest request;
        request.prompts = {"fds"};
        // The prompts that killed its process let the model rest; by force it does not.
        EXPECT_TRUE(client().load(client().models()->at(0).id, {.force = true}));
        const auto reply = client().complete(request);
        EXPECT_TRUE(reply);
        return reply ? reply->choices.at(0).text : "";
    }

    std::unique_ptr<RunningDaemon> daemon_;
};

class T086 : public CanaryTest {};
TEST_F(T086, WhatOneClientSaidAndWhatTheEnvironmentHoldsIsInNoOtherReplyAndNoLog) {
    const std::uint64_t begin = last_change();
    plant();
    std::vector<std::string> seen = provoke();
    ASSERT_GT(seen.size(), 100U);
    // Remembered changes as well: a reader that comes late gets them.
    const std::uint64_t end = last_change();
    ASSERT_GT(end, begin + 10);
    const auto read = client().events("/hearth/v1/events?after=" + std::to_string(begin),
                                      [&](const client::ServerEvent& change, const auto&) {
                                          seen.push_back(change.data);
                                          return number_of(change) < end;
                                      });
    EXPECT_TRUE(read);
    seen.push_back(environment_of_worker());
    EXPECT_EQ(daemon_->terminate(), 0);
    seen.push_back(daemon_->log());
    EXPECT_GT(daemon_->log().size(), 1000U) << "there is a log to look into";
    for (const std::string& text : seen)
        for (const char* canary : {kSecret, kPrompt, kPath, kToken, "PLANTED_SECRET"})
            EXPECT_EQ(text.find(canary), std::string::npos) << canary << " in " << text;
}

// T109 as far as there are tokens and no downloads: not in the log, the arguments of processes, the
// worker's environment, the database.
class T109 : public CanaryTest {
protected:
    std::filesystem::path token_file() const { return daemon_->root() / "CONFIG/hearth/token"; }
    std::string token_of_daemon() const {
        std::string token = text_of(token_file());
        while (!token.empty() && token.back() == '\n') token.pop_back();
        return token;
    }
    static void expect_none(const std::string& text, const std::string& own,
                            const std::string& where) {
        for (const std::string& token : {own, std::string(kToken)})
            EXPECT_EQ(text.find(token), std::string::npos) << token << " in " << where;
    }
};
TEST_F(T109, ATokenIsInNoLogNoArgumentNoEnvironmentAndNoDatabase) {
    const std::string own = token_of_daemon();
    ASSERT_GT(own.size(), 30U);
    plant();
    post("/v1/completions", "{}", own);
    get("/health?token=" + own);
    get("/nothing/" + own);
    expect_none(environment_of_worker(), own, "the worker's environment");
    std::string arguments;
    const auto status = client().status();
    ASSERT_TRUE(status);
    for (const auto& model : status->models)
        arguments += text_of("/proc/" + std::to_string(model.pid) + "/cmdline");
    arguments += text_of("/proc/" + std::to_string(daemon_->pid()) + "/cmdline");
    EXPECT_FALSE(arguments.empty());
    expect_none(arguments, own, "arguments");
    EXPECT_EQ(daemon_->terminate(), 0);
    for (const auto& file : std::filesystem::recursive_directory_iterator(daemon_->root()))
        if (file.is_regular_file() && file.path() != token_file())
            expect_none(text_of(file.path()), own, file.path());
    EXPECT_NE(daemon_->log().find("[redacted]"), std::string::npos) << "paths are logged";
}

}  // namespace
