// The few functions of the numerics contract, operation by operation: exp, silu, sums over 16
// partials, and the rounding of activations.
//
// Every step is one IEEE operation on f32, so that vector code which does the same steps lane by
// lane gives equal bits; `fl` is one rounding. What a NaN's sign and payload are is not part of the
// contract.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hearth {

// ---- exp

// Outside of these the result is 0 or infinity, and the steps below give just that at the borders:
// inputs are clamped.
constexpr float kExpMin = -104.0F;  // e^-104 < 2^-150
constexpr float kExpMax = 88.8F;    // e^88.8 > 2^128
constexpr float kLog2E = 0x1.715476p+0F;
// ln 2 = kLn2Hi + kLn2Lo to 48 bits. fma(n, -kLn2Hi, x) is exact: the difference has at most 24
// bits.
constexpr float kLn2Hi = 0x1.62e430p-1F;
constexpr float kLn2Lo = -0x1.05c610p-29F;
// e^r = 1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3 + c6 r^4) for |r| <= ln 2 / 2: minimax of the
// relative error (Remez exchange in double, 3.1e-9), rounded to f32.
constexpr float kExpC2 = 0x1.fffffcp-2F;
constexpr float kExpC3 = 0x1.555492p-3F;
constexpr float kExpC4 = 0x1.5558f2p-5F;
constexpr float kExpC5 = 0x1.123a20p-7F;
constexpr float kExpC6 = 0x1.6a23d0p-10F;
// Adding and taking off 1.5 * 2^23 rounds |x| < 2^22 to the nearest integer, ties to even.
constexpr float kRoundMagic = 0x1.8p+23F;

// 2^n for -126 <= n <= 127; other n (they come with a NaN only) give some number.
inline float power_of_two(std::int32_t n) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127U) << 23);
}

// Error at most 1 ulp, subnormal results included. x <= -104 gives +0, x >= 88.8 gives infinity,
// NaN stays NaN.
//
// In vectors: clamps whose NaN operand survives (x86: max(kExpMin, x), then min(kExpMax, x), x as
// the second operand; NEON: fmax, fmin); any rounding to the nearest even integer; shifts of int32
// lanes. The integer of a NaN may be anything.
inline float exp_f32(float x) {
    x = x < kExpMin ? kExpMin : x;
    x = x > kExpMax ? kExpMax : x;
    const float n = (x * kLog2E + kRoundMagic) - kRoundMagic;
    float r = std::fma(n, -kLn2Hi, x);
    r = std::fma(n, -kLn2Lo, r);
    float p = kExpC6;
    p = std::fma(p, r, kExpC5);
    p = std::fma(p, r, kExpC4);
    p = std::fma(p, r, kExpC3);
    p = std::fma(p, r, kExpC2);
    p = std::fma(p, r, 1.0F);
    p = std::fma(p, r, 1.0F);
    const std::int32_t exponent = x == x ? static_cast<std::int32_t>(n) : 0;
    const std::int32_t half = exponent >> 1;  // floor
    return (p * power_of_two(half)) * power_of_two(exponent - half);
}

// x / (1 + exp(-x)). -infinity gives NaN.
inline float silu_f32(float x) { return x / (1.0F + exp_f32(-x)); }

// ---- sums

// Element i of a sum belongs to partial i mod 16; the fold is 8, 4, 2, 1.
constexpr int kSumPartials = 16;
using SumPartials = std::array<float, kSumPartials>;

inline float fold_sum16(SumPartials p) {
    for (std::size_t width = kSumPartials / 2; width > 0; width /= 2)
        for (std::size_t j = 0; j < width; ++j) p[j] += p[j + width];
    return p[0];
}

// scale of rms_norm, fl(1 / sqrt(fl(fl(s / cols) + eps))), for s the sum of squares.
inline float rms_scale(float sum_of_squares, int cols, float eps) {
    return 1.0F / std::sqrt(sum_of_squares / static_cast<float>(cols) + eps);
}

// ---- activations, rounded once per row for all quantized weights (engine/quant/README.md)

constexpr int kRoundedBlock = 32;
// As f32 bits: blocks whose largest magnitude is below 2^-100 are zero.
constexpr std::uint32_t kSmallestRoundedBits = 27U << 23;
constexpr std::uint32_t kMagnitudeBits = 0x7fffffffU;
constexpr std::uint32_t kInfinityBits = 0x7f800000U;

// One block of 32: x is about scale * q.
struct RoundedBlock {
    float scale;                       // da: NaN when the block holds a NaN or an infinity
    std::array<std::int16_t, 2> sums;  // of q over elements 0..15 and 16..31
    std::array<std::int8_t, kRoundedBlock> q;
};

// The largest magnitude is taken over the bits without sign as integers, so that one maximum finds
// NaN and infinity too (as 0x7f800000 or more).
inline void round_block(const float* x, RoundedBlock& out) {
    std::uint32_t largest = 0;
    for (int i = 0; i < kRoundedBlock; ++i)
        largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & kMagnitudeBits);
    out.sums = {};
    out.q = {};
    out.scale = 0.0F;
    if (largest >= kInfinityBits) out.scale = std::bit_cast<float>(kMagnitudeBits);
    if (largest >= kInfinityBits || largest < kSmallestRoundedBits) return;
    out.scale = std::bit_cast<float>(largest) / 127.0F;
    const float inverse = 1.0F / out.scale;
    for (std::size_t i = 0; i < kRoundedBlock; ++i) {
        // The magic addition rounds to nearest even; |x * inverse| is at most a few ulp above 127.
        const float rounded = (x[i] * inverse + kRoundMagic) - kRoundMagic;
        const auto q = static_cast<std::int32_t>(std::clamp(rounded, -127.0F, 127.0F));
        out.q[i] = static_cast<std::int8_t>(q);
        out.sums[i / 16] = static_cast<std::int16_t>(out.sums[i / 16] + q);
    }
}

// A row of `cols` (a multiple of 32) activations; `out` has cols / 32 blocks.
inline void round_activations(const float* x, int cols, RoundedBlock* out) {
    for (int b = 0; b < cols / kRoundedBlock; ++b) round_block(x + b * kRoundedBlock, out[b]);
}

}  // namespace hearth
