// How options, budget and the model's own context become pages.
#include "engine/generate/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/units.h"

namespace hearth::generate {
namespace {

// 2 layers * 4 heads * 64 channels * (2 + 2 bytes) = 2048 bytes a position, 32 KiB a page.
constexpr KvShape kShape{.layers = 2,
                         .heads = 4,
                         .head_dim = 64,
                         .key_type = DType::f16,
                         .value_type = DType::f16,
                         .pages = 0};

TEST(MemoryPlan, AQuarterOfWhatIsAvailableHoldsTheTrainedContext) {
    const auto plan = plan_memory(kShape, 2048, {}, 32 * kMiB);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->context, 2048);
    EXPECT_EQ(plan->pages, 256);  // 8 MiB
}

TEST(MemoryPlan, TheContextShrinksToTheBudget) {
    const auto plan = plan_memory(kShape, 100000, {}, 8 * kMiB);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->pages, 64);
    EXPECT_EQ(plan->context, 1024);
}

TEST(MemoryPlan, NoMorePagesThanTheSequencesCanFill) {
    EngineOptions options;
    options.max_sequences = 2;
    options.context = 100;
    const auto plan = plan_memory(kShape, 2048, options, kGiB);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->context, 100);
    EXPECT_EQ(plan->pages, 14);
}

TEST(MemoryPlan, AContextThatDoesNotFitIsRefusedWithBothNumbers) {
    EngineOptions options;
    options.context = 2048;
    options.kv_bytes = 2 * kMiB;
    const auto plan = plan_memory(kShape, 2048, options, kGiB);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::no_memory);
    EXPECT_THAT(plan.error().message, ::testing::HasSubstr("2048 tokens"));
    EXPECT_THAT(plan.error().message, ::testing::HasSubstr("2 MiB"));
}

TEST(MemoryPlan, AContextBeyondTrainingIsRefusedWithBothNumbers) {
    EngineOptions options;
    options.context = 4096;
    const auto plan = plan_memory(kShape, 2048, options, kGiB);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::bad_input);
    EXPECT_THAT(plan.error().message, ::testing::HasSubstr("4096"));
    EXPECT_THAT(plan.error().message, ::testing::HasSubstr("2048"));
}

TEST(T024, WeightsThatDoNotFitAreRefusedWithBothNumbers) {
    EXPECT_TRUE(check_weights_fit(kGiB, kGiB));
    const auto refused = check_weights_fit(3 * kGiB, 2 * kGiB);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::no_memory);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("3072 MiB"));
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("2048 MiB"));
}

TEST(MemoryPlan, ThisMachineHasSomeMemory) { EXPECT_GT(available_memory(), 16 * kMiB); }

}  // namespace
}  // namespace hearth::generate
