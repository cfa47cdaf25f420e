// Result carries a value or an error, also one that can only be moved, and the macros pass errors
// on.
#include "engine/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace hearth {
namespace {

Result<int> half_of(int n) {
    if (n % 2 != 0) return Error{ErrorCode::bad_input, std::to_string(n) + " is odd"};
    return n / 2;
}

Result<int> quarter_of(int n) {
    HEARTH_TRY(const int half, half_of(n));
    HEARTH_TRY(const int quarter, half_of(half));
    return quarter;
}

Result<void> must_be_even(int n) {
    HEARTH_TRY_VOID(quarter_of(2 * n));
    return {};
}

Result<std::unique_ptr<int>> owned(int n) {
    HEARTH_TRY(const int half, half_of(n));
    return std::make_unique<int>(half);
}

TEST(Result, HoldsAValue) {
    const Result<int> result = half_of(8);
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(static_cast<bool>(result));
    EXPECT_EQ(*result, 4);
}

TEST(Result, HoldsAnError) {
    const Result<int> result = half_of(7);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::bad_input);
    EXPECT_EQ(result.error().message, "7 is odd");
}

TEST(Result, TryPassesValuesAndErrorsOn) {
    EXPECT_EQ(quarter_of(12).value(), 3);
    EXPECT_EQ(quarter_of(6).error().message, "3 is odd");
    EXPECT_EQ(quarter_of(5).error().message, "5 is odd");
}

TEST(Result, TryVoidPassesErrorsOn) {
    EXPECT_TRUE(must_be_even(2).has_value());
    const Result<void> odd = must_be_even(3);
    ASSERT_FALSE(odd.has_value());
    EXPECT_EQ(odd.error().message, "3 is odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
    auto result = owned(6);
    ASSERT_TRUE(result.has_value());
    const std::unique_ptr<int> taken = *std::move(result);
    EXPECT_EQ(*taken, 3);
    EXPECT_FALSE(owned(3).has_value());
}

TEST(ResultDeathTest, ValueOfAnErrorEndsTheProcess) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const Result<int> result = half_of(7);
    EXPECT_DEATH(static_cast<void>(result.value()), "check failed");
    const Result<void> sound;
    EXPECT_DEATH(static_cast<void>(sound.error()), "check failed");
}

}  // namespace
}  // namespace hearth
