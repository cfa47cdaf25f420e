// Makes the table of sines and cosines. All of it is additions, multiplications and divisions of
// doubles in a stated order, so that every machine gets the same bits; logarithm, exponential, sine
// and cosine are written out below.
#include "engine/ops/rope_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "engine/base/check.h"

namespace hearth {
namespace {

// Adding and taking off 1.5 * 2^52 rounds |x| < 2^51 to the nearest integer, ties to even.
constexpr double kRoundMagic = 0x1.8p+52;
// ln 2 in two parts; the first has 32 bits, so that its product with an exponent is exact.
constexpr double kLn2Hi = 0x1.62e42feep-1;
constexpr double kLn2Lo = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kPi = 0x1.921fb54442d18p+1;
// pi / 2 in three parts; the first two have at most 29 bits, so that products with integers below
// 2^24 are exact (Cody, Waite).
constexpr double kHalfPi1 = 0x1.921fb54p+0;
constexpr double kHalfPi2 = 0x1.10b461p-30;
constexpr double kHalfPi3 = 0x1.a62633145c06ep-58;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
// Positions beyond this are not exact in f32.
constexpr int kMostPositions = 1 << 24;

double nearest_integer(double x) { return (x + kRoundMagic) - kRoundMagic; }

// Natural logarithm of a positive, finite x. x = 2^e m with m in [1/sqrt 2, sqrt 2), s = (m - 1) /
// (m + 1), ln m = 2 (s + s^3 / 3 + s^5 / 5 + …); |s| < 0.172, so the term s^25 is below 2^-60.
double log_double(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);  // exact
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2.0;
        exponent -= 1;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double square = s * s;
    double series = 0.0;
    for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * square;
    const double n = exponent;
    return n * kLn2Hi + (n * kLn2Lo + 2.0 * (s + s * series));
}

// e^x for |x| < 700 by the Taylor series up to r^14 for |r| <= ln 2 / 2: the next term is below
// 2^-63.
double exp_double(double x) {
    const double n = nearest_integer(x * kLog2E);
    const double r = (x - n * kLn2Hi) - n * kLn2Lo;
    double series = 1.0;
    for (int k = 14; k >= 1; --k) series = 1.0 + series * r / k;
    return std::ldexp(series, static_cast<int>(n));  // exact
}

constexpr double reciprocal_factorial(int n) {
    double product = 1.0;
    for (int i = 2; i <= n; ++i) product *= i;  // exact up to 18!
    return 1.0 / product;
}

// Coefficients of the Taylor series in r^2: sin r = r (1 + S(r^2)), cos r = 1 + C(r^2), for |r| <=
// pi / 4. The first terms left out, r^17 / 17! and r^18 / 18!, are below 2^-54.
constexpr int kTerms = 7;
constexpr std::array<double, kTerms> kSine = {-reciprocal_factorial(3),  reciprocal_factorial(5),
                                              -reciprocal_factorial(7),  reciprocal_factorial(9),
                                              -reciprocal_factorial(11), reciprocal_factorial(13),
                                              -reciprocal_factorial(15)};
constexpr std::array<double, kTerms + 1> kCosine = {
    -reciprocal_factorial(2),  reciprocal_factorial(4),   -reciprocal_factorial(6),
    reciprocal_factorial(8),   -reciprocal_factorial(10), reciprocal_factorial(12),
    -reciprocal_factorial(14), reciprocal_factorial(16)};

struct SineCosine {
    double sine;
    double cosine;
};

// For 0 <= angle < 2^24 with the 24 bits of a float.
SineCosine sine_cosine(double angle) {
    const double n = nearest_integer(angle * kTwoOverPi);
    const double r = ((angle - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
    const double square = r * r;
    double s = 0.0;
    for (int k = kTerms - 1; k >= 0; --k) s = (s + kSine[static_cast<std::size_t>(k)]) * square;
    double c = 0.0;
    for (int k = kTerms; k >= 0; --k) c = (c + kCosine[static_cast<std::size_t>(k)]) * square;
    const double sine = r + r * s;
    const double cosine = 1.0 + c;
    switch (static_cast<int>(n) & 3) {
        case 0:
            return {sine, cosine};
        case 1:
            return {cosine, -sine};
        case 2:
            return {-sine, -cosine};
        default:
            return {-cosine, sine};
    }
}

// The pair of channels whose wavelength makes `rotations` turns in the original context (YaRN, Peng
// et al. 2023, section 3.2): dims ln(context / (2 pi rotations)) / (2 ln base).
double pair_of_rotations(const RopeConfig& config, double rotations) {
    return config.dims * log_double(config.original_context / (rotations * 2.0 * kPi)) /
           (2.0 * log_double(config.base));
}

// The share of the unscaled frequency in pair i: 1 for fast pairs, 0 for slow ones, a ramp between.
std::vector<double> yarn_shares(const RopeConfig& config) {
    const double low = std::max(0.0, std::floor(pair_of_rotations(config, config.yarn_beta_fast)));
    const double high =
        std::min(config.dims - 1.0, std::ceil(pair_of_rotations(config, config.yarn_beta_slow)));
    // Both public implementations keep the ramp from being a division by zero with 0.001.
    const double width = std::max(0.001, high - low);
    std::vector<double> shares;
    for (int i = 0; i < config.dims / 2; ++i) {
        const double ramp = std::clamp((i - low) / width, 0.0, 1.0);
        shares.push_back((1.0 - ramp) * config.yarn_extrapolation);
    }
    return shares;
}

std::vector<float> frequencies(const RopeConfig& config) {
    const double log_base = log_double(config.base);
    const bool yarn = config.scaling == RopeScaling::yarn;
    const std::vector<double> shares = yarn ? yarn_shares(config) : std::vector<double>{};
    std::vector<float> result;
    for (int i = 0; i < config.dims / 2; ++i) {
        const auto pair = static_cast<std::size_t>(i);
        double frequency = exp_double(-(2.0 * i / config.dims) * log_base);
        if (!config.frequency_factors.empty()) frequency /= double{config.frequency_factors[pair]};
        if (config.scaling == RopeScaling::linear) frequency /= config.factor;
        if (yarn)
            frequency = frequency / config.factor * (1.0 - shares[pair]) + frequency * shares[pair];
        result.push_back(static_cast<float>(frequency));
    }
    return result;
}

// YaRN makes the attention sharper by 0.1 ln(factor) + 1, squared, which falls on sine and cosine.
float magnitude(const RopeConfig& config) {
    if (config.scaling != RopeScaling::yarn) return 1.0F;
    const bool extrapolates = config.yarn_extrapolation != 0.0;
    const double sharper = extrapolates ? 1.0 + 0.1 * log_double(config.factor) : 1.0;
    return static_cast<float>(config.yarn_attention * sharper);
}

bool positive(double x) { return x > 0.0 && std::isfinite(x); }

Result<void> check(const RopeConfig& config, int positions) {
    const auto bad = [](std::string what) {
        return Error{ErrorCode::bad_input, "rotary embedding: " + std::move(what)};
    };
    if (config.dims <= 0 || config.dims % 2 != 0)
        return bad("the number of rotated channels must be even and positive, not " +
                   std::to_string(config.dims));
    if (positions <= 0 || positions > kMostPositions)
        return bad("cannot make a table of " + std::to_string(positions) +
                   " positions (1 to 16777216)");
    if (!(config.base > 1.0) || !std::isfinite(config.base))
        return bad("the base must be a number above 1, not " + std::to_string(config.base));
    const auto half = static_cast<std::size_t>(config.dims / 2);
    const std::vector<float>& factors = config.frequency_factors;
    if (!factors.empty() && factors.size() != half)
        return bad("got " + std::to_string(factors.size()) + " frequency factors for " +
                   std::to_string(half) + " pairs of channels");
    if (!std::ranges::all_of(factors, [](float f) { return positive(f); }))
        return bad("frequency factors must be positive numbers");
    if (!positive(config.factor)) return bad("the scaling factor must be a positive number");
    if (config.scaling != RopeScaling::yarn) return {};
    if (config.original_context <= 0) return bad("YaRN needs the original context length");
    if (!positive(config.yarn_beta_fast) || !positive(config.yarn_beta_slow))
        return bad("YaRN's beta_fast and beta_slow must be positive numbers");
    if (!(config.yarn_extrapolation >= 0.0 && config.yarn_extrapolation <= 1.0))
        return bad("YaRN's extrapolation factor must lie between 0 and 1");
    if (!positive(config.yarn_attention))
        return bad("YaRN's attention factor must be a positive number");
    return {};
}

}  // namespace

Result<RopeTable> RopeTable::make(const RopeConfig& config, int positions) {
    HEARTH_TRY_VOID(check(config, positions));
    const std::vector<float> frequency = frequencies(config);
    // An angle must stay below 2^24; factors below 1 could lead beyond.
    const float highest = *std::ranges::max_element(frequency);
    if (!(highest * static_cast<float>(positions) < 0x1p+24F))
        return Error{ErrorCode::bad_input, "rotary embedding: frequencies are too high for " +
                                               std::to_string(positions) + " positions"};
    const float scale = magnitude(config);
    RopeTable table;
    table.dims_ = config.dims;
    table.positions_ = positions;
    table.pairing_ = config.pairing;
    const std::size_t size = static_cast<std::size_t>(positions) * frequency.size();
    table.cosines_.reserve(size);
    table.sines_.reserve(size);
    for (int position = 0; position < positions; ++position) {
        for (const float f : frequency) {
            const float angle = static_cast<float>(position) * f;
            const SineCosine value = sine_cosine(double{angle});
            table.cosines_.push_back(static_cast<float>(value.cosine) * scale);
            table.sines_.push_back(static_cast<float>(value.sine) * scale);
        }
    }
    return table;
}

}  // namespace hearth
