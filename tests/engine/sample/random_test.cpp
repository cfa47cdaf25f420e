// Counter-based randomness: fixed numbers, even spread, no correlation between neighbouring keys.
#include "engine/sample/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace hearth::sample {
namespace {

TEST(Random, NumbersAreThoseOfTheDocumentedMix) {
    // Computed with Python integers from the formula in random.h.
    EXPECT_EQ(random_bits({.seed = 0, .choice = 0, .position = 0}), 0xa706dd2f4d197e6fU);
    EXPECT_EQ(random_bits({.seed = 42, .choice = 1, .position = 7}), 0x9edab4f4fa18422eU);
}

TEST(Random, EachPartOfTheKeyMatters) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (std::uint32_t choice = 0; choice < 20; ++choice)
            for (std::uint32_t position = 0; position < 20; ++position)
                seen.insert(random_bits({seed, choice, position}));
    EXPECT_EQ(seen.size(), 8000U);
}

TEST(Random, UnitIsEvenlySpread) {
    std::array<int, 16> counts{};
    constexpr int kDraws = 160000;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
        const double unit = random_unit({.seed = 3, .choice = 0, .position = i});
        ASSERT_GE(unit, 0.0);
        ASSERT_LT(unit, 1.0);
        ++counts[static_cast<std::size_t>(unit * 16)];
    }
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
    EXPECT_LT(chi_square, 37.7);  // 99.9 % quantile with 15 degrees of freedom
}

}  // namespace
}  // namespace hearth::sample
