// The timed runs: what is measured and what is refused. Figures are not judged here.
#include "engine/generate/bench.h"

#include <gtest/gtest.h>

#include "engine/base/mapped_file.h"
#include "tests/support/paths.h"

namespace hearth::generate {
namespace {

class BenchTest : public ::testing::Test {
protected:
    LoadedModel model_ =
        std::move(load_model(std::move(MappedFile::open(testing::tiny_model_path())).value(),
                             {.threads = 1}))
            .value();
};

TEST_F(BenchTest, GivesOneTimePerRepetition) {
    const auto report = bench(
        model_, {.prompt = 20, .generation = 4, .depth = 10, .repetitions = 3, .step_tokens = 8});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->prompt_seconds.size(), 3U);
    ASSERT_EQ(report->generation_seconds.size(), 3U);
    for (const double seconds : report->prompt_seconds) EXPECT_GT(seconds, 0);
    for (const double seconds : report->generation_seconds) EXPECT_GT(seconds, 0);
}

TEST_F(BenchTest, SkipsATestOfZeroTokens) {
    const auto report = bench(model_, {.prompt = 0, .generation = 2, .repetitions = 1});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->prompt_seconds.empty());
    EXPECT_EQ(report->generation_seconds.size(), 1U);
}

TEST_F(BenchTest, ATokenReadsEveryWeightButTheEmbeddingTable) {
    const auto report = bench(model_, {.prompt = 0, .generation = 2, .repetitions = 1});
    ASSERT_TRUE(report);
    const std::uint64_t embedding = 320 * 64 * 4;
    // One position of keys and values on average: 2 layers, 2 heads of 16 channels, f16 twice.
    EXPECT_EQ(report->bytes_per_token, model_.info.weight_bytes - embedding + 2 * 2 * 16 * 4);
}

TEST_F(BenchTest, RefusesARunBeyondTheContext) {
    EXPECT_EQ(bench(model_, {.prompt = 1000, .depth = 25}).error().code,
              ErrorCode::context_exceeded);
    EXPECT_EQ(bench(model_, {.repetitions = 0}).error().code, ErrorCode::bad_input);
    EXPECT_EQ(bench(model_, {.prompt = -1}).error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace hearth::generate
