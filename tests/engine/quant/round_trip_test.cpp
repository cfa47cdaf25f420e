// Packing loses at most what the width of a type says, on weights as models have them and on odd
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "engine/quant/traits.h"
#include "tests/engine/quant/goldens.h"

namespace hearth::quant {
namespace {

constexpr std::size_t kElements = 256 * 64;

std::vector<float> normal_weights(float mean, float deviation) {
    std::mt19937 random(7);
    std::vector<float> out(kElements);
    // Sum of uniforms: the same numbers with every standard library, unlike
    // std::normal_distribution.
    for (float& x : out) {
        float sum = -6.0F;
        for (int i = 0; i < 12; ++i) sum += static_cast<float>(random() >> 8) * 0x1p-24F;
        x = mean + deviation * sum;
    }
    return out;
}

std::vector<float> round_trip(DType type, const std::vector<float>& in) {
    const auto bytes = row_bytes(type, in.size()).value().value();
    std::vector<std::byte> blocks(bytes);
    std::vector<float> out(in.size());
    traits(type).pack(in.data(), in.size(), blocks.data());
    traits(type).unpack(blocks.data(), in.size(), out.data());
    return out;
}

// Root mean square of the error over root mean square of the input.
double relative_error(const std::vector<float>& in, const std::vector<float>& out) {
    double error = 0;
    double energy = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        error += std::pow(double{in[i]} - double{out[i]}, 2);
        energy += std::pow(double{in[i]}, 2);
    }
    return std::sqrt(error / energy);
}

struct Bound {
    DType type;
    double normal;   // on normally distributed weights
    double shifted;  // the same with a mean of three deviations, where types with a minimum win
};

// A tenth above what was measured, so that a worse search fails and a better one may lower it.
constexpr Bound kBounds[] = {
    {DType::f32, 0, 0},
    {DType::f16, 0.00023, 0.00023},
    {DType::bf16, 0.0018, 0.0019},
    {DType::q8_0, 0.0058, 0.0040},
    {DType::q4_0, 0.093, 0.063},
    {DType::q4_1, 0.085, 0.027},
    {DType::q5_0, 0.046, 0.031},
    {DType::q5_1, 0.041, 0.013},
    {DType::q4_k, 0.076, 0.030},
    {DType::q5_k, 0.038, 0.0148},
    {DType::q6_k, 0.0188, 0.013},
};

TEST(QuantRoundTrip, ErrorStaysWithinTheBoundOfEachType) {
    const std::vector<float> normal = normal_weights(0.0F, 0.02F);
    const std::vector<float> shifted = normal_weights(0.06F, 0.02F);
    for (const Bound& bound : kBounds) {
        SCOPED_TRACE(name_of(bound.type));
        EXPECT_LE(relative_error(normal, round_trip(bound.type, normal)), bound.normal);
        EXPECT_LE(relative_error(shifted, round_trip(bound.type, shifted)), bound.shifted);
    }
}

TEST(QuantRoundTrip, KTypesBeatThePlainTypesOfTheirWidth) {
    const std::vector<float> in = normal_weights(0.0F, 0.02F);
    const auto error = [&](DType type) { return relative_error(in, round_trip(type, in)); };
    EXPECT_LT(error(DType::q4_k), error(DType::q4_0));
    EXPECT_LT(error(DType::q4_k), error(DType::q4_1));
    EXPECT_LT(error(DType::q5_k), error(DType::q5_0));
    EXPECT_LT(error(DType::q5_k), error(DType::q5_1));
    EXPECT_LT(error(DType::q6_k), error(DType::q5_k));
}

TEST(QuantRoundTrip, PackingWhatWasUnpackedChangesLittleOfIt) {
    for (const DType type : {DType::q4_k, DType::q5_k, DType::q6_k}) {
        SCOPED_TRACE(name_of(type));
        const std::vector<float> once = round_trip(type, normal_weights(0.0F, 0.02F));
        EXPECT_LE(relative_error(once, round_trip(type, once)), 0.01);
    }
}

struct OddCase {
    const char* name;
    std::function<float(std::size_t)> value;
    float allowed;  // largest error over the largest magnitude of the input
};

TEST(QuantRoundTrip, OddInputsGiveFiniteNearValues) {
    // Where values are tiny, scales and minima are subnormal f16, with steps of 6e-8.
    const OddCase cases[] = {
        {"zero", [](std::size_t) { return 0.0F; }, 0.0F},
        {"one", [](std::size_t) { return 1.0F; }, 0.02F},
        {"minus one", [](std::size_t) { return -1.0F; }, 0.02F},
        {"one spike", [](std::size_t i) { return i % 256 == 77 ? -3.0F : 0.0F; }, 0.02F},
        {"alternating", [](std::size_t i) { return i % 2 == 0 ? 1.0F : -1.0F; }, 0.15F},
        {"ramp", [](std::size_t i) { return static_cast<float>(i % 256) - 128.0F; }, 0.08F},
        {"steps", [](std::size_t i) { return static_cast<float>(i % 256 / 16) - 3.0F; }, 0.06F},
        {"tiny", [](std::size_t i) { return i % 3 == 0 ? 1e-7F : -1e-7F; }, 5.0F},
        {"subnormal", [](std::size_t i) { return i % 3 == 0 ? 1e-42F : -1e-43F; }, 1.0F},
        {"large", [](std::size_t i) { return i % 2 == 0 ? 6e4F : -6e4F; }, 0.15F},
        {"largest", [](std::size_t i) { return i % 2 == 0 ? 3.4e38F : -3.4e38F; }, 1.0F},
    };
    for (const Bound& bound : kBounds) {
        if (dtype_info(bound.type).block_elements == 1) continue;
        for (const OddCase& odd : cases) {
            SCOPED_TRACE(name_of(bound.type) + ", " + odd.name);
            std::vector<float> in(1024);
            for (std::size_t i = 0; i < in.size(); ++i) in[i] = odd.value(i);
            const std::vector<float> out = round_trip(bound.type, in);
            const float largest =
                std::abs(*std::ranges::max_element(in, {}, [](float x) { return std::abs(x); }));
            for (std::size_t i = 0; i < in.size(); ++i) {
                ASSERT_TRUE(std::isfinite(out[i])) << "element " << i;
                ASSERT_LE(std::abs(out[i] - in[i]), odd.allowed * largest) << "element " << i;
            }
        }
    }
}

}  // namespace
}  // namespace hearth::quant
