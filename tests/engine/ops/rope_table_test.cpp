// Rotary tables against the C library and against formulas written out here in double precision.
#include "engine/ops/rope_table.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace hearth {
namespace {

int ulps_apart(float a, float b) {
    if (a == b) return 0;
    if (std::signbit(a) != std::signbit(b)) return std::numeric_limits<int>::max();
    return std::abs(std::bit_cast<std::int32_t>(a) - std::bit_cast<std::int32_t>(b));
}

// Compares a table with frequencies given in double precision and a factor on sine and cosine.
void expect_table(const RopeTable& table, const std::vector<double>& frequencies, float scale) {
    for (int position = 0; position < table.positions(); position += 1 + position / 9) {
        for (std::size_t i = 0; i < frequencies.size(); ++i) {
            const float angle = static_cast<float>(position) * static_cast<float>(frequencies[i]);
            const float cosine = static_cast<float>(std::cos(double{angle})) * scale;
            const float sine = static_cast<float>(std::sin(double{angle})) * scale;
            ASSERT_LE(ulps_apart(table.cosines(position)[i], cosine), 1) << position << " " << i;
            ASSERT_LE(ulps_apart(table.sines(position)[i], sine), 1) << position << " " << i;
        }
    }
}

std::vector<double> plain_frequencies(int dims, double base) {
    std::vector<double> result;
    for (int i = 0; i < dims / 2; ++i) result.push_back(std::pow(base, -2.0 * i / dims));
    return result;
}

RopeConfig config_of(int dims, double base) {
    RopeConfig config;
    config.dims = dims;
    config.base = base;
    return config;
}

TEST(RopeTable, MatchesTheCLibraryUpToAMillionRadians) {
    const auto table = RopeTable::make(config_of(16, 10000.0), 1 << 20);
    ASSERT_TRUE(table);
    const std::vector<double> frequencies = plain_frequencies(16, 10000.0);
    for (int position = 0; position < table->positions(); position += 13) {
        for (std::size_t i = 0; i < frequencies.size(); ++i) {
            const float angle = static_cast<float>(position) * static_cast<float>(frequencies[i]);
            const float cosine = static_cast<float>(std::cos(double{angle}));
            const float sine = static_cast<float>(std::sin(double{angle}));
            ASSERT_LE(ulps_apart(table->cosines(position)[i], cosine), 1) << position << " " << i;
            ASSERT_LE(ulps_apart(table->sines(position)[i], sine), 1) << position << " " << i;
        }
    }
}

TEST(RopeTable, MakesFrequenciesForManyBasesAndSizes) {
    for (const double base : {10000.0, 100000.0, 500000.0, 1e6, 5e6, 1e9}) {
        for (const int dims : {2, 32, 64, 80, 96, 128, 256}) {
            const auto table = RopeTable::make(config_of(dims, base), 5000);
            ASSERT_TRUE(table);
            expect_table(*table, plain_frequencies(dims, base), 1.0F);
        }
    }
}

TEST(RopeTable, StartsWithoutRotation) {
    const auto table = RopeTable::make(config_of(64, 10000.0), 1);
    ASSERT_TRUE(table);
    EXPECT_EQ(table->positions(), 1);
    for (const float cosine : table->cosines(0)) EXPECT_EQ(cosine, 1.0F);
    for (const float sine : table->sines(0)) EXPECT_EQ(sine, 0.0F);
}

TEST(RopeTable, DividesFrequenciesWhenScalingIsLinear) {
    RopeConfig config = config_of(64, 10000.0);
    config.scaling = RopeScaling::linear;
    config.factor = 4.0;
    const auto table = RopeTable::make(config, 3000);
    ASSERT_TRUE(table);
    std::vector<double> frequencies = plain_frequencies(64, 10000.0);
    for (double& f : frequencies) f /= 4.0;
    expect_table(*table, frequencies, 1.0F);
}

TEST(RopeTable, DividesByTheFactorsOfTheFileForLlama3) {
    // The factors that Llama 3.1 files carry: high frequencies stay, low ones are divided by 8, a
    // ramp between (low_freq_factor 1, high_freq_factor 4, original context 8192).
    RopeConfig config = config_of(128, 500000.0);
    config.scaling = RopeScaling::llama3;
    std::vector<double> frequencies = plain_frequencies(128, 500000.0);
    for (double& f : frequencies) {
        const double turns = 8192.0 * f / (2.0 * std::numbers::pi);
        double factor = 1.0;
        if (turns < 1.0) {
            factor = 8.0;
        } else if (turns < 4.0) {
            const double smooth = (turns - 1.0) / (4.0 - 1.0);
            factor = 1.0 / ((1.0 - smooth) / 8.0 + smooth);
        }
        config.frequency_factors.push_back(static_cast<float>(factor));
        f /= static_cast<double>(static_cast<float>(factor));
    }
    const auto table = RopeTable::make(config, 9000);
    ASSERT_TRUE(table);
    expect_table(*table, frequencies, 1.0F);
}

TEST(RopeTable, BlendsFrequenciesAndSharpensForYarn) {
    RopeConfig config = config_of(128, 1e6);
    config.scaling = RopeScaling::yarn;
    config.factor = 4.0;
    config.original_context = 32768;
    std::vector<double> frequencies = plain_frequencies(128, 1e6);
    // Pairs where the original context holds 32 turns and 1 turn: 23.6 and 39.7 (dims ln(context /
    // (2 pi turns)) / (2 ln base)), so that the ramp goes from pair 23 to pair 40.
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double keep =
            1.0 - std::clamp((static_cast<double>(i) - 23.0) / (40.0 - 23.0), 0.0, 1.0);
        frequencies[i] = frequencies[i] * keep + frequencies[i] / 4.0 * (1.0 - keep);
    }
    const auto table = RopeTable::make(config, 3000);
    ASSERT_TRUE(table);
    expect_table(*table, frequencies, static_cast<float>(0.1 * std::log(4.0) + 1.0));
}

TEST(RopeTable, InterpolatesAllFrequenciesWhenYarnDoesNotExtrapolate) {
    RopeConfig config = config_of(64, 10000.0);
    config.scaling = RopeScaling::yarn;
    config.factor = 2.0;
    config.original_context = 2048;
    config.yarn_extrapolation = 0.0;
    config.yarn_attention = 1.25;
    const auto table = RopeTable::make(config, 500);
    ASSERT_TRUE(table);
    std::vector<double> frequencies = plain_frequencies(64, 10000.0);
    for (double& f : frequencies) f /= 2.0;
    expect_table(*table, frequencies, 1.25F);
}

TEST(RopeTable, RefusesWhatMakesNoSense) {
    const auto code_of = [](const RopeConfig& config, int positions) {
        const auto table = RopeTable::make(config, positions);
        return table ? ErrorCode::internal : table.error().code;
    };
    EXPECT_EQ(code_of(config_of(0, 10000.0), 8), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(-2, 10000.0), 8), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(63, 10000.0), 8), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(64, 10000.0), 0), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(64, 10000.0), (1 << 24) + 1), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(64, 1.0), 8), ErrorCode::bad_input);
    EXPECT_EQ(code_of(config_of(64, std::nan("")), 8), ErrorCode::bad_input);
    RopeConfig config = config_of(64, 10000.0);
    config.frequency_factors = std::vector<float>(31, 1.0F);
    EXPECT_EQ(code_of(config, 8), ErrorCode::bad_input);
    config.frequency_factors = std::vector<float>(32, 1.0F);
    config.frequency_factors[3] = 0.0F;
    EXPECT_EQ(code_of(config, 8), ErrorCode::bad_input);
    config.frequency_factors[3] = 1e-30F;
    EXPECT_EQ(code_of(config, 8), ErrorCode::bad_input);  // angles beyond 2^24
    config = config_of(64, 10000.0);
    config.scaling = RopeScaling::yarn;
    EXPECT_EQ(code_of(config, 8), ErrorCode::bad_input);  // no original context
    config.original_context = 2048;
    config.factor = 0.0;
    EXPECT_EQ(code_of(config, 8), ErrorCode::bad_input);
    config.factor = 2.0;
    EXPECT_TRUE(RopeTable::make(config, 8));
}

}  // namespace
}  // namespace hearth
