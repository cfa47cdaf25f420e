// Checked arithmetic: an overflow anywhere is remembered to the end.
#include "engine/base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace hearth {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, SumsAndProductsThatFitAreExact) {
    EXPECT_EQ((Checked(2) + 3).value(), 5U);
    EXPECT_EQ((Checked(6) * 7).value(), 42U);
    EXPECT_EQ((Checked(kMax - 1) + 1).value(), kMax);
    EXPECT_EQ((Checked(1ULL << 32) * ((1ULL << 32) - 1)).value(), kMax - ((1ULL << 32) - 1));
    EXPECT_EQ((Checked(kMax) * 1).value(), kMax);
    EXPECT_EQ((Checked(kMax) * 0).value(), 0U);
}

TEST(Checked, OverflowOfASumIsNoticed) {
    EXPECT_FALSE((Checked(kMax) + 1).value().has_value());
    EXPECT_FALSE((Checked(1ULL << 63) + (1ULL << 63)).value().has_value());
}

TEST(Checked, OverflowOfAProductIsNoticed) {
    EXPECT_FALSE((Checked(1ULL << 32) * (1ULL << 32)).value().has_value());
    EXPECT_FALSE((Checked(kMax) * 2).value().has_value());
}

TEST(Checked, OverflowStaysThroughLaterSteps) {
    const Checked overflowed = Checked(kMax) + 1;
    EXPECT_FALSE((overflowed * 0).value().has_value());
    EXPECT_FALSE((overflowed + 1).value().has_value());
    EXPECT_FALSE((Checked(1) + overflowed).value().has_value());
    EXPECT_FALSE((Checked(0) * overflowed).value().has_value());
    EXPECT_FALSE(overflowed.align_up(8).value().has_value());
    EXPECT_FALSE(overflowed.at_most(kMax));
}

TEST(Checked, AlignUpRoundsToTheNextMultiple) {
    EXPECT_EQ(Checked(0).align_up(32).value(), 0U);
    EXPECT_EQ(Checked(1).align_up(32).value(), 32U);
    EXPECT_EQ(Checked(32).align_up(32).value(), 32U);
    EXPECT_EQ(Checked(33).align_up(32).value(), 64U);
    EXPECT_EQ(Checked(7).align_up(1).value(), 7U);
}

TEST(Checked, AlignUpThatWrapsIsAnOverflow) {
    EXPECT_FALSE(Checked(kMax - 3).align_up(32).value().has_value());
    EXPECT_FALSE(Checked(kMax).align_up(2).value().has_value());
    EXPECT_EQ(Checked(kMax - 31).align_up(32).value(), kMax - 31);
}

TEST(Checked, AtMostComparesWithTheLimit) {
    EXPECT_TRUE(Checked(5).at_most(5));
    EXPECT_FALSE(Checked(6).at_most(5));
    EXPECT_TRUE(Checked(kMax).at_most(kMax));
}

TEST(Units, OwnSizesRoundUp) {
    EXPECT_EQ(align_up(0, 64), 0U);
    EXPECT_EQ(align_up(65, 64), 128U);
    EXPECT_EQ(align_up(10, 3), 12U);
    EXPECT_EQ(ceil_div(7, 2), 4);
    EXPECT_EQ(ceil_div(8, 2), 4);
}

}  // namespace
}  // namespace hearth
