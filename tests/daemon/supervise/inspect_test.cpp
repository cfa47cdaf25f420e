// Asking a child about a model file: what it may answer, and what it may not.
#include "daemon/supervise/inspect.h"

#include "tests/daemon/supervise/harness.h"

using namespace hearth;
using namespace hearth::supervise;

namespace {

constexpr const char* kFacts =
    R"({"kind":"model","architecture":"llama","name":"tiny","quantization":"F32","context":64,)"
    R"("parameters":1000,"tensors":12,"size":4096,"has_chat_template":true,"unsupported":""})";

class InspectTest : public testing::Test {
protected:
    Result<FileFacts> ask(const std::string& behaviour) {
        return ask_path(models_.make("m", behaviour).path);
    }
    Result<FileFacts> ask_path(const std::string& path) {
        std::optional<Result<FileFacts>> result;
        inspect(io_, path, {.worker_path = FAKE_WORKER, .time_limit = time_limit_},
                [&](auto got) { result = std::move(got); });
        EXPECT_FALSE(result);
        EXPECT_TRUE(run_until(io_, [&] { return result.has_value(); }));
        return *std::move(result);
    }

    Models models_;
    boost::asio::io_context io_;
    std::chrono::milliseconds time_limit_{20'000};
};

TEST_F(InspectTest, FactsArrive) {
    const auto facts = ask(kFacts);
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_EQ(facts->architecture, "llama");
    EXPECT_EQ(facts->context, 64);
    EXPECT_TRUE(facts->has_chat_template);
}

TEST_F(InspectTest, TheEnginesErrorArrivesWithItsCode) {
    const auto facts = ask(R"({"error":{"code":"model_corrupt","message":"cut short"}})");
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code, ErrorCode::model_corrupt);
    EXPECT_EQ(facts.error().message, "cut short");
}

TEST_F(InspectTest, AnAnswerThatDoesNotFitIsRefused) {
    for (const char* answer :
         {"", "[]", "{}", "{\"kind\":1}", "not JSON", "die", "flood", R"({"error":{"code":3}})"}) {
        SCOPED_TRACE(answer);
        const auto facts = ask(answer);
        ASSERT_FALSE(facts);
        EXPECT_EQ(facts.error().code, ErrorCode::worker_died);
    }
}

TEST_F(InspectTest, AChildThatHangsIsEnded) {
    time_limit_ = std::chrono::milliseconds(50);
    EXPECT_EQ(ask("hang").error().code, ErrorCode::timed_out);
}

TEST_F(InspectTest, AMissingFileIsNotFound) {
    EXPECT_EQ(ask_path("/nonexistent").error().code, ErrorCode::not_found);
}

}  // namespace
