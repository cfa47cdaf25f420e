// 16-bit floats against the compiler's own: every f16, and f32 values of every exponent and at
// every rounding edge.
#include "engine/tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace hearth {
namespace {

bool is_nan(std::uint16_t half) { return (half & 0x7c00U) == 0x7c00U && (half & 0x3ffU) != 0; }

// Values around each f16: the number itself, the middle to the next one, and a bit to either side
// of both.
template <typename Use>
void for_each_edge(const Use& use) {
    for (std::uint32_t half = 0; half < 0x7c00; ++half) {
        const float here = f32_from_f16(static_cast<std::uint16_t>(half));
        const float next =
            half + 1 < 0x7c00 ? f32_from_f16(static_cast<std::uint16_t>(half + 1)) : 65536.0F;
        const float middle = (here + next) / 2;
        for (const float x : {here, std::nextafter(here, 1e30F), middle,
                              std::nextafter(middle, 0.0F), std::nextafter(middle, 1e30F)}) {
            use(x);
            use(-x);
        }
    }
}

template <typename Use>
void for_random_floats(const Use& use) {
    std::mt19937 random(11);
    for (int i = 0; i < 2'000'000; ++i)
        use(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

#ifdef __FLT16_MAX__
std::uint16_t compilers_half(float x) {
    const auto half = static_cast<_Float16>(x);
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, sizeof bits);
    return bits;
}

TEST(Half, EveryF16WidensAsTheCompilerDoes) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        _Float16 theirs;
        std::memcpy(&theirs, &half, sizeof half);
        const float expected = static_cast<float>(theirs);
        const float ours = f32_from_f16(half);
        if (is_nan(half)) {
            ASSERT_TRUE(std::isnan(ours)) << bits;
            ASSERT_EQ(std::signbit(ours), std::signbit(expected)) << bits;
        } else {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(expected))
                << bits;
        }
    }
}

TEST(Half, F32RoundsToF16AsTheCompilerDoes) {
    const auto check = [](float x) {
        if (std::isnan(x)) {
            ASSERT_TRUE(is_nan(f16_from_f32(x)));
        } else {
            ASSERT_EQ(f16_from_f32(x), compilers_half(x)) << std::hexfloat << x;
        }
    };
    for_each_edge(check);
    for_random_floats(check);
}
#else
TEST(Half, F32RoundsToF16AsTheCompilerDoes) { GTEST_SKIP() << "the compiler has no _Float16"; }
#endif

TEST(Half, EveryF16SurvivesTheWayToF32AndBack) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const std::uint16_t back = f16_from_f32(f32_from_f16(half));
        if (is_nan(half)) {
            ASSERT_TRUE(is_nan(back)) << bits;
        } else {
            ASSERT_EQ(back, half);
        }
    }
}

TEST(Half, F16RoundingGoesToTheNearestOrTheEven) {
    for_each_edge([](float x) {
        if (std::abs(x) > 65504.0F) return;
        const std::uint16_t half = f16_from_f32(x);
        const float chosen = f32_from_f16(half);
        const auto magnitude = static_cast<std::uint16_t>(half & 0x7fffU);
        for (const int step : {-1, 1}) {
            if (magnitude == 0 && step < 0) continue;
            if (magnitude == 0x7bff && step > 0) continue;
            const auto neighbour = static_cast<std::uint16_t>(half + step);
            const float miss = std::abs(x - chosen);
            const float other = std::abs(x - f32_from_f16(neighbour));
            ASSERT_LE(miss, other);
            if (miss == other) {
                ASSERT_EQ(half % 2, 0);
            }
        }
    });
}

TEST(Half, F16OverflowsToInfinityFrom65520) {
    EXPECT_EQ(f16_from_f32(65519.996F), 0x7bff);
    EXPECT_EQ(f16_from_f32(65520.0F), 0x7c00);
    EXPECT_EQ(f16_from_f32(-1e30F), 0xfc00);
    EXPECT_EQ(f16_from_f32(0x1p-25F), 0x0000);  // half of the least subnormal: to even
    EXPECT_EQ(f16_from_f32(0x1.8p-25F), 0x0001);
    EXPECT_EQ(f16_from_f32(-0.0F), 0x8000);
}

TEST(Half, EveryBf16SurvivesTheWayToF32AndBack) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float wide = f32_from_bf16(half);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(wide), bits << 16);
        if (std::isnan(wide)) {
            ASSERT_TRUE(std::isnan(f32_from_bf16(bf16_from_f32(wide))));
        } else {
            ASSERT_EQ(bf16_from_f32(wide), half);
        }
    }
}

TEST(Half, Bf16RoundsToTheNearestOrTheEven) {
    const auto check = [](float x) {
        const std::uint16_t half = bf16_from_f32(x);
        if (std::isnan(x)) {
            ASSERT_TRUE(std::isnan(f32_from_bf16(half)));
            return;
        }
        // In 64-bit integers: the low half of the pattern is below, above or at the middle.
        const std::uint64_t bits = std::bit_cast<std::uint32_t>(x);
        const std::uint64_t low = bits & 0xffffU;
        const std::uint64_t cut = bits >> 16;
        const bool up = low > 0x8000U || (low == 0x8000U && cut % 2 == 1);
        ASSERT_EQ(half, cut + (up ? 1 : 0)) << std::hexfloat << x;
    };
    for_random_floats(check);
    for (const float x : {1.00390625F, 1.01171875F, -1.00390625F, 3.4028235e38F, 1e-45F}) check(x);
}

}  // namespace
}  // namespace hearth
