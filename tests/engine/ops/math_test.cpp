// exp, silu, the fold of sums and the rounding of activations, against double precision and by
// hand.
#include "engine/ops/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace hearth {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distance of an f32 from a double, in units of the last place of the f32 nearest to the double.
double ulps(float actual, double exact) {
    int exponent = 0;
    std::frexp(exact, &exponent);
    const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
    return std::fabs(static_cast<double>(actual) - exact) / ulp;
}

// Calls f with every `step`-th bit pattern that is a number.
template <typename F>
void for_sampled_floats(std::uint32_t step, F f) {
    for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += step) {
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (!std::isnan(x)) f(x);
    }
}

TEST(Exp, IsWithinOneUlpOfDoublePrecisionWherever) {
    double worst = 0.0;
    float at = 0.0F;
    for_sampled_floats(1021, [&](float x) {
        if (!(x > kExpMin && x < 0x1.62e42ep+6F)) return;  // the largest x with a finite result
        const double error = ulps(exp_f32(x), std::exp(static_cast<double>(x)));
        if (error > worst) {
            worst = error;
            at = x;
        }
    });
    EXPECT_LE(worst, 1.0) << "at " << std::hexfloat << at;
    EXPECT_GT(worst, 0.5) << "no function of f32 steps is that good: the test measures nothing";
}

TEST(Exp, EndsInZeroAndInfinity) {
    for_sampled_floats(4093, [](float x) {
        if (x <= kExpMin) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(exp_f32(x)), 0U) << x;
        }
        if (x >= kExpMax) {
            ASSERT_EQ(exp_f32(x), kInfinity) << x;
        }
    });
    EXPECT_EQ(exp_f32(-kInfinity), 0.0F);
    EXPECT_EQ(exp_f32(kInfinity), kInfinity);
    EXPECT_EQ(exp_f32(kExpMin), 0.0F);
    EXPECT_EQ(exp_f32(kExpMax), kInfinity);
    EXPECT_EQ(exp_f32(0.0F), 1.0F);
    EXPECT_EQ(exp_f32(-0.0F), 1.0F);
    EXPECT_TRUE(std::isfinite(exp_f32(88.72F)));
}

TEST(Exp, GivesSubnormalResultsAndKeepsNan) {
    EXPECT_GT(exp_f32(-103.0F), 0.0F);
    EXPECT_LE(ulps(exp_f32(-100.0F), std::exp(-100.0)), 1.0);
    EXPECT_TRUE(std::isnan(exp_f32(kNan)));
    EXPECT_TRUE(std::isnan(exp_f32(-kNan)));
}

TEST(Exp, NeverDecreasesFromFloatToFloatAroundRoundNumbers) {
    for (const float centre :
         {-88.0F, -20.0F, -1.0F, -0.34657359F, 0.34657359F, 1.0F, 20.0F, 88.0F}) {
        float x = centre;
        for (int i = 0; i < 20000; ++i) {
            const float next = std::nextafter(x, kInfinity);
            // A polynomial may go back by one unit where its pieces meet, never more.
            ASSERT_GE(exp_f32(next), std::nextafter(exp_f32(x), 0.0F)) << x;
            x = next;
        }
    }
}

TEST(Silu, IsWithinThreeUlpsOfDoublePrecision) {
    double worst = 0.0;
    for_sampled_floats(2039, [&](float x) {
        // Below -87 exp(-x) nears the largest f32 and the result is about 1e-36 or less.
        if (x < -87.0F || std::isinf(x)) return;
        const double exact = static_cast<double>(x) / (1.0 + std::exp(-static_cast<double>(x)));
        worst = std::max(worst, ulps(silu_f32(x), exact));
    });
    EXPECT_LE(worst, 3.0);
}

TEST(Silu, VanishesFarBelowZeroAndIsNanOnlyAtMinusInfinity) {
    EXPECT_EQ(silu_f32(-200.0F), 0.0F);
    EXPECT_EQ(silu_f32(200.0F), 200.0F);
    EXPECT_EQ(silu_f32(kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(silu_f32(-kInfinity)));
    EXPECT_TRUE(std::isnan(silu_f32(kNan)));
}

TEST(FoldSum16, AddsPartialsEightApartFirst) {
    SumPartials p{};
    p[0] = 0x1p24F;
    p[8] = -0x1p24F;
    p[4] = 1.0F;  // lost if it met 2^24 first
    EXPECT_EQ(fold_sum16(p), 1.0F);
    p = {};
    p[0] = 0x1p24F;
    p[4] = -0x1p24F;
    p[2] = 1.0F;
    EXPECT_EQ(fold_sum16(p), 1.0F);
    p = {};
    p[0] = 0x1p24F;
    p[2] = -0x1p24F;
    p[1] = 1.0F;
    EXPECT_EQ(fold_sum16(p), 1.0F);
}

RoundedBlock rounded(const std::array<float, kRoundedBlock>& x) {
    RoundedBlock block;
    round_block(x.data(), block);
    return block;
}

std::array<float, kRoundedBlock> filled(float value) {
    std::array<float, kRoundedBlock> x;
    x.fill(value);
    return x;
}

TEST(RoundBlock, RoundsTiesToEven) {
    auto x = filled(0.0F);
    x[0] = 127.0F;  // scale 1
    x[1] = 0.5F;
    x[2] = 1.5F;
    x[3] = 2.5F;
    x[16] = -0.5F;
    x[17] = -1.5F;
    x[18] = -2.5F;
    x[19] = 126.5F;
    const RoundedBlock block = rounded(x);
    EXPECT_EQ(block.scale, 1.0F);
    EXPECT_EQ(block.q[0], 127);
    EXPECT_EQ(block.q[1], 0);
    EXPECT_EQ(block.q[2], 2);
    EXPECT_EQ(block.q[3], 2);
    EXPECT_EQ(block.q[16], 0);
    EXPECT_EQ(block.q[17], -2);
    EXPECT_EQ(block.q[18], -2);
    EXPECT_EQ(block.q[19], 126);
    EXPECT_EQ(block.sums[0], 131);
    EXPECT_EQ(block.sums[1], 122);
}

TEST(RoundBlock, IsZeroBelowTwoToMinus100) {
    for (const float x : {0.0F, -0.0F, 0x1p-149F, -0x1p-127F, 0x1.fffffep-101F}) {
        const RoundedBlock block = rounded(filled(x));
        EXPECT_EQ(block.scale, 0.0F) << x;
        for (const std::int8_t q : block.q) EXPECT_EQ(q, 0) << x;
        EXPECT_EQ(block.sums[0], 0);
    }
    const RoundedBlock block = rounded(filled(-0x1p-100F));
    EXPECT_EQ(block.scale, 0x1p-100F / 127.0F);
    EXPECT_EQ(block.q[7], -127);
    EXPECT_EQ(block.sums[1], -127 * 16);
}

TEST(RoundBlock, MarksBlocksWithNanOrInfinity) {
    for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
        auto x = filled(1.0F);
        x[31] = bad;
        const RoundedBlock block = rounded(x);
        EXPECT_TRUE(std::isnan(block.scale));
        for (const std::int8_t q : block.q) EXPECT_EQ(q, 0);
        EXPECT_EQ(block.sums[0], 0);
        EXPECT_EQ(block.sums[1], 0);
    }
}

TEST(RoundBlock, StaysWithinHalfAStepForAnySize) {
    std::mt19937 random(7);
    for (int exponent = -97; exponent <= 127; ++exponent) {
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::array<float, kRoundedBlock> x;
            for (float& value : x)
                value = std::ldexp(static_cast<float>(random()) * 0x1p-32F - 0.5F, exponent);
            const RoundedBlock block = rounded(x);
            int sum = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double error =
                    std::fabs(static_cast<double>(x[i]) - double{block.scale} * block.q[i]);
                // Three roundings (scale, inverse, product) of values up to 127 shift a tie by
                // 2^-16 of a step.
                ASSERT_LE(error, double{block.scale} * (0.5 + 0x1p-15)) << exponent;
                ASSERT_GE(block.q[i], -127);
                sum += block.q[i];
            }
            ASSERT_EQ(sum, block.sums[0] + block.sums[1]);
            const auto largest =
                std::ranges::max_element(x, {}, [](float value) { return std::fabs(value); });
            ASSERT_EQ(std::abs(block.q[static_cast<std::size_t>(largest - x.begin())]), 127);
        }
    }
    const RoundedBlock block = rounded(filled(std::numeric_limits<float>::max()));
    EXPECT_EQ(block.q[0], 127);
}

}  // namespace
}  // namespace hearth
