// A daemon whose worker has no engine: what it says is written in the prompt ("count 5", "die 3",
// "refuse", "silent"); see tests/daemon/supervise/fake_worker.cpp.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/system/running_daemon.h"

namespace hearth::testing {

// Sanitizers take memory of their own: figures mean nothing then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// A "model file" of which the fake worker's inspection prints the content.
inline std::string fake_model_file(const RunningDaemon& daemon, const std::string& name) {
    const std::string path = daemon.root() / (name + ".gguf");
    std::ofstream(path) << R"({"kind":"model","architecture":"fake","name":")" << name
                        << R"(","quantization":"Q4_1","context":100,"parameters":5,"tensors":3,)"
                        << R"("size":100,"has_chat_template":true,"unsupported":""})";
    return path;
}

class FakeDaemonTest : public ::testing::Test {
protected:
    FakeDaemonTest() : daemon_({.worker = FAKE_WORKER, .arguments = {}}) {}

    void import_fake() { daemon_.import(fake_model_file(daemon_, "fake")); }
    static protocol::CompletionRequest prompt(const std::string& behaviour) {
        protocol::CompletionRequest request;
        request.prompts = {behaviour};
        return request;
    }
    client::HttpReply send(const client::HttpRequest& request) const {
        auto reply = daemon_.client().send(request);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : client::HttpReply{};
    }
    bool is_idle() const {
        const auto status = daemon_.client().status();
        return status && status->running == 0;
    }

    RunningDaemon daemon_;
};

}  // namespace hearth::testing
