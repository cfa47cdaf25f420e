// Scores against logits that `transformers` computed for the tiny models.
#include "engine/generate/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/mapped_file.h"
#include "tests/support/goldens.h"
#include "tests/support/paths.h"

namespace hearth::generate {
namespace {

LoadedModel load_tiny(std::string_view name) {
    MappedFile file = std::move(MappedFile::open(testing::tiny_model_path(name))).value();
    return std::move(load_model(std::move(file), {.threads = 1})).value();
}

std::vector<double> log_softmax(std::span<const float> logits) {
    const double max = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    for (const float logit : logits) total += std::exp(double{logit} - max);
    std::vector<double> out;
    for (const float logit : logits) out.push_back(double{logit} - max - std::log(total));
    return out;
}

TEST(Score, AgreesWithTheGoldenLogits) {
    for (const auto& golden : testing::golden_logits()) {
        if (golden.first != 0) continue;
        SCOPED_TRACE(golden.model);
        const LoadedModel model = load_tiny(golden.model);
        const auto report =
            score(model, golden.ids, {.top = 5, .key_type = DType::f32, .value_type = DType::f32});
        ASSERT_TRUE(report) << report.error().message;
        ASSERT_EQ(report->next_logprob.size(), golden.ids.size() - 1);
        ASSERT_EQ(report->top_ids.size(), golden.ids.size());
        double sum = 0;
        for (std::size_t i = 0; i < golden.ids.size(); ++i) {
            const auto vocabulary = static_cast<std::size_t>(golden.vocabulary);
            const auto expected =
                log_softmax(std::span(golden.logits).subspan(i * vocabulary, vocabulary));
            const double best = *std::max_element(expected.begin(), expected.end());
            ASSERT_EQ(report->top_ids[i].size(), 5U);
            EXPECT_NEAR(report->top_logprobs[i][0], best, 1e-3);
            for (std::size_t k = 0; k < 5; ++k)
                EXPECT_NEAR(report->top_logprobs[i][k],
                            expected[static_cast<std::size_t>(report->top_ids[i][k])], 1e-3);
            EXPECT_TRUE(
                std::is_sorted(report->top_logprobs[i].rbegin(), report->top_logprobs[i].rend()));
            if (i + 1 == golden.ids.size()) break;
            const double next = expected[static_cast<std::size_t>(golden.ids[i + 1])];
            EXPECT_NEAR(report->next_logprob[i], next, 1e-3);
            sum += next;
        }
        EXPECT_NEAR(std::log(report->perplexity), -sum / 79, 1e-3);
    }
}

TEST(Score, RefusesWhatItCannotScore) {
    const LoadedModel model = load_tiny("tiny-llama3");
    const std::vector<std::int32_t> one = {1};
    EXPECT_EQ(score(model, one, {}).error().code, ErrorCode::bad_input);
    const std::vector<std::int32_t> foreign = {1, 320};
    EXPECT_EQ(score(model, foreign, {}).error().code, ErrorCode::bad_input);
    const std::vector<std::int32_t> long_text(257, 5);
    const auto result = score(model, long_text, {});
    EXPECT_EQ(result.error().code, ErrorCode::context_exceeded);
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("257"));
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("256"));
}

}  // namespace
}  // namespace hearth::generate
