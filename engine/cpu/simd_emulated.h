// The words of the kernels as plain C++ over arrays of 16, shaped like the 512-bit set, so that its
// algorithms run in tests on any machine. Slow.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/tensor/half.h"

namespace hearth::cpu {
namespace {
namespace simd_emulated {

constexpr int kLanes = 16;  // rows in one register
constexpr int kTileTokens = 8;
// Attention: query vectors and pages (of 16 positions) of a tile of scores, sixteens of channels of
// a tile of values, for R query vectors.
constexpr int kScoreTile = 12;
constexpr int kValueTile = 6;
template <int R>
constexpr int score_pages() {
    return R >= 12 ? 2 : 4;
}
template <int R>
constexpr int value_wides() {
    return 4;
}

// ---- 16 floats
struct Wide {
    float lane[16];
};

template <typename Function>
inline Wide each(Function function) {
    Wide out;
    for (int i = 0; i < 16; ++i) out.lane[i] = function(i);
    return out;
}
inline Wide set(float x) {
    return each([&](int) { return x; });
}
inline Wide zero() { return set(0.0F); }
inline Wide load(const float* p) {
    return each([&](int i) { return p[i]; });
}
// The first n < 16 lanes; the others are +0 and not stored.
inline Wide load_first(const float* p, int n) {
    return each([&](int i) { return i < n ? p[i] : 0.0F; });
}
inline void store_first(float* p, const Wide& x, int n) {
    for (int i = 0; i < n; ++i) p[i] = x.lane[i];
}
inline void store(float* p, const Wide& x) { store_first(p, x, 16); }
// The first n lanes of x, the others of y.
inline Wide first_of(const Wide& x, int n, const Wide& y) {
    return each([&](int i) { return i < n ? x.lane[i] : y.lane[i]; });
}
inline Wide add(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline Wide sub(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] - b.lane[i]; });
}
inline Wide mul(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline Wide div(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] / b.lane[i]; });
}
inline Wide fma(const Wide& a, const Wide& b, const Wide& c) {
    return each([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
// A NaN in b survives.
inline Wide max(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline Wide min(const Wide& a, const Wide& b) {
    return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline float power_of_two(std::int32_t n) {
    const std::uint32_t bits = (static_cast<std::uint32_t>(n) + 127U) << 23;
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}
// p * 2^n for whole n, rounded once: the first of the two steps is exact.
inline Wide scale_by_power(const Wide& p, const Wide& n) {
    return each([&](int i) {
        const std::int32_t exponent = n.lane[i] == n.lane[i] ? static_cast<int>(n.lane[i]) : 0;
        const std::int32_t half = exponent >> 1;
        return (p.lane[i] * power_of_two(half)) * power_of_two(exponent - half);
    });
}
inline std::uint16_t half_at(const void* p, int i) {
    std::uint16_t half;
    std::memcpy(&half, static_cast<const std::uint8_t*>(p) + 2 * i, sizeof half);
    return half;
}
inline Wide from_f16(const void* p) {
    return each([&](int i) { return f32_from_f16(half_at(p, i)); });
}
inline void to_f16(void* p, const Wide& x) {
    for (int i = 0; i < 16; ++i) {
        const std::uint16_t half = f16_from_f32(x.lane[i]);
        std::memcpy(static_cast<std::uint8_t*>(p) + 2 * i, &half, sizeof half);
    }
}

// Lanes added 8, 4, 2, 1 apart.
inline float fold(Wide p) {
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; ++i) p.lane[i] += p.lane[i + width];
    return p.lane[0];
}
inline float largest(Wide x) {
    for (int i = 1; i < 16; ++i) x.lane[0] = x.lane[0] > x.lane[i] ? x.lane[0] : x.lane[i];
    return x.lane[0];
}

// ---- 16 integers, for the rounding of activations
struct Ints {
    std::int32_t lane[16];
};

inline std::int32_t ints_add(std::int32_t a, std::int32_t b) { return a + b; }
// Of numbers without sign, as all magnitudes are.
inline std::int32_t ints_max(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
inline Ints ints_zero() { return {}; }
inline Ints ints_add(Ints a, const Ints& b) {
    for (int i = 0; i < 16; ++i) a.lane[i] += b.lane[i];
    return a;
}
inline Ints ints_max(Ints a, const Ints& b) {
    for (int i = 0; i < 16; ++i) a.lane[i] = ints_max(a.lane[i], b.lane[i]);
    return a;
}
inline void ints_store(void* p, const Ints& x) { std::memcpy(p, &x, sizeof x); }
// The bits without sign.
inline Ints magnitude(const Wide& x) {
    Ints out;
    std::memcpy(&out, &x, sizeof out);
    for (std::int32_t& lane : out.lane) lane &= 0x7fffffff;
    return out;
}
// Stores the nearest integers of 16 x, all within -127..127, as bytes, and gives them.
inline Ints round_to_bytes(const Wide& x, std::int8_t* q) {
    constexpr float kMagic = 0x1.8p+23F;  // adding and taking it off rounds to nearest even
    Ints out;
    for (int i = 0; i < 16; ++i) {
        out.lane[i] = static_cast<std::int32_t>((x.lane[i] + kMagic) - kMagic);
        q[i] = static_cast<std::int8_t>(out.lane[i]);
    }
    return out;
}
// Lane i of the result is v[i] folded with the operation.
template <std::int32_t (*kFold)(std::int32_t, std::int32_t)>
inline Ints fold_each(const Ints (&v)[16]) {
    Ints out;
    for (int i = 0; i < 16; ++i) {
        out.lane[i] = v[i].lane[0];
        for (int j = 1; j < 16; ++j) out.lane[i] = kFold(out.lane[i], v[i].lane[j]);
    }
    return out;
}

// ---- kLanes rows. `part` says which kLanes of a group's 16 rows: always 0 here.
using Rows = Wide;

inline Rows rows_zero() { return zero(); }
inline Rows rows_set(float x) { return set(x); }
inline Rows rows_load(const float* p) { return load(p); }
inline void rows_store(float* p, const Rows& x) { store(p, x); }
inline Rows rows_add(const Rows& a, const Rows& b) { return add(a, b); }
inline Rows rows_mul(const Rows& a, const Rows& b) { return mul(a, b); }
inline Rows rows_fma(const Rows& a, const Rows& b, const Rows& c) { return fma(a, b, c); }
inline Rows rows_negate(const Rows& x) {
    return each([&](int i) { return -x.lane[i]; });
}
inline Rows rows_f32(const std::uint8_t* group, int /*part*/) {
    Rows out;
    std::memcpy(&out, group, sizeof out);
    return out;
}
inline Rows rows_f16(const std::uint8_t* group, int /*part*/) { return from_f16(group); }
inline Rows rows_bf16(const std::uint8_t* group, int /*part*/) {
    return each([&](int i) { return f32_from_bf16(half_at(group, i)); });
}
inline Rows rows_u8(const std::uint8_t* group, int /*part*/) {
    return each([&](int i) { return static_cast<float>(group[i]); });
}
inline Rows rows_i8(const std::uint8_t* group, int /*part*/) {
    return each([&](int i) { return static_cast<float>(static_cast<std::int8_t>(group[i])); });
}

// ---- four bytes of each row
struct Quads {
    std::uint8_t byte[64];
};

inline Quads quads_load(const std::uint8_t* group_vector, int /*part*/) {
    Quads out;
    std::memcpy(&out, group_vector, sizeof out);
    return out;
}
inline Quads either(Quads a, const Quads& b) {
    for (int i = 0; i < 64; ++i) a.byte[i] = static_cast<std::uint8_t>(a.byte[i] | b.byte[i]);
    return a;
}
// The bits of each byte shifted up (down when negative) and masked.
template <int kShift, int kMask>
inline Quads bits(Quads x) {
    for (std::uint8_t& byte : x.byte) {
        const unsigned moved = kShift >= 0 ? static_cast<unsigned>(byte) << (kShift & 7)
                                           : static_cast<unsigned>(byte) >> (-kShift & 7);
        byte = static_cast<std::uint8_t>(moved & static_cast<unsigned>(kMask & 255));
    }
    return x;
}

// ---- exact sums of unsigned bytes of the rows times signed bytes that all rows share
// 8-bit weights lie as q + 128, which is how they are used.
inline Quads eight_bits(const Quads& w) { return w; }
template <int kBits>
struct Sum {
    std::int32_t lane[16];
};
template <int kBits>
inline Sum<kBits> sum_start(const std::int32_t* start) {
    Sum<kBits> out;
    for (std::int32_t& lane : out.lane) lane = start == nullptr ? 0 : *start;
    return out;
}
template <int kBits>
inline void sum_add(Sum<kBits>& sum, const Quads& w0, const std::int8_t* a0, const Quads& w1,
                    const std::int8_t* a1) {
    for (int i = 0; i < 64; ++i) {
        sum.lane[i / 4] += w0.byte[i] * a0[i % 4];
        sum.lane[i / 4] += w1.byte[i] * a1[i % 4];
    }
}
template <int kBits>
inline Rows sum_end(const Sum<kBits>& sum, const std::int32_t* /*start*/) {
    return each([&](int i) { return static_cast<float>(sum.lane[i]); });
}

}  // namespace simd_emulated
}  // namespace
}  // namespace hearth::cpu
