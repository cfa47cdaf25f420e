// The words of the kernels in AVX2, FMA and F16C: one register is 8 rows; 16 floats are two
// registers. Included only by kernels_avx2*.cpp, which are compiled for that instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace hearth::cpu {
namespace {
namespace simd_avx2 {

constexpr int kLanes = 8;  // rows in one register
constexpr int kTileTokens = 6;
// Attention: query vectors and pages (of 16 positions) of a tile of scores, sixteens of channels of
// a tile of values, for R query vectors.
constexpr int kScoreTile = 6;
constexpr int kValueTile = 6;
template <int R>
constexpr int score_pages() {
    return R >= 6 ? 1 : 2;
}
template <int R>
constexpr int value_wides() {
    return R >= 3 ? 1 : 2;
}

// ---- 16 floats
struct Wide {
    __m256 low;
    __m256 high;
};

inline Wide zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline Wide set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline Wide load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, Wide x) {
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
}
// The first n < 16 lanes; the others are +0 and not stored.
inline Wide load_first(const float* p, int n) {
    alignas(32) float lanes[16] = {};
    for (int i = 0; i < n; ++i) lanes[i] = p[i];
    return load(lanes);
}
inline void store_first(float* p, Wide x, int n) {
    alignas(32) float lanes[16];
    store(lanes, x);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
}
// The first n lanes of x, the others of y.
inline Wide first_of(Wide x, int n, Wide y) {
    const __m256i count = _mm256_set1_epi32(n);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i next = _mm256_add_epi32(lane, _mm256_set1_epi32(8));
    const __m256 low = _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lane));
    const __m256 high = _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, next));
    return {_mm256_blendv_ps(y.low, x.low, low), _mm256_blendv_ps(y.high, x.high, high)};
}
inline Wide add(Wide a, Wide b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Wide sub(Wide a, Wide b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Wide mul(Wide a, Wide b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Wide div(Wide a, Wide b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
inline Wide fma(Wide a, Wide b, Wide c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
// A NaN in b survives.
inline Wide max(Wide a, Wide b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
inline Wide min(Wide a, Wide b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
inline __m256 power_of_two(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
inline __m256 scale_by_power(__m256 p, __m256 n) {
    const __m256i exponent = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(exponent, 1);
    const __m256 once = _mm256_mul_ps(p, power_of_two(half));
    return _mm256_mul_ps(once, power_of_two(_mm256_sub_epi32(exponent, half)));
}
// p * 2^n for whole n, rounded once: the first of the two steps is exact.
inline Wide scale_by_power(Wide p, Wide n) {
    return {scale_by_power(p.low, n.low), scale_by_power(p.high, n.high)};
}
inline __m256 half_from_f16(const void* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline Wide from_f16(const void* p) {
    return {half_from_f16(p), half_from_f16(static_cast<const std::uint8_t*>(p) + 16)};
}
inline void to_f16(void* p, Wide x) {
    __m128i* to = static_cast<__m128i*>(p);
    _mm_storeu_si128(to, _mm256_cvtps_ph(x.low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(to + 1, _mm256_cvtps_ph(x.high, _MM_FROUND_TO_NEAREST_INT));
}

// Lanes added 8, 4, 2, 1 apart.
inline float fold(Wide p) {
    const __m256 a = _mm256_add_ps(p.low, p.high);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
inline float largest(Wide x) {
    const __m256 a = _mm256_max_ps(x.low, x.high);
    const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}

// ---- 16 integers, for the rounding of activations
struct Ints {
    __m256i low;
    __m256i high;
};

inline Ints ints_zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
inline __m256i ints_add(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
inline __m256i ints_max(__m256i a, __m256i b) { return _mm256_max_epu32(a, b); }
inline Ints ints_add(Ints a, Ints b) { return {ints_add(a.low, b.low), ints_add(a.high, b.high)}; }
inline Ints ints_max(Ints a, Ints b) { return {ints_max(a.low, b.low), ints_max(a.high, b.high)}; }
inline void ints_store(void* p, Ints x) {
    __m256i* to = static_cast<__m256i*>(p);
    _mm256_storeu_si256(to, x.low);
    _mm256_storeu_si256(to + 1, x.high);
}
// The bits without sign.
inline Ints magnitude(Wide x) {
    const __m256i mask = _mm256_set1_epi32(0x7fffffff);
    return {_mm256_and_si256(_mm256_castps_si256(x.low), mask),
            _mm256_and_si256(_mm256_castps_si256(x.high), mask)};
}
// Stores the nearest integers of 16 x, all within -127..127, as bytes, and gives them.
inline Ints round_to_bytes(Wide x, std::int8_t* q) {
    const __m256i a = _mm256_cvtps_epi32(x.low);
    const __m256i b = _mm256_cvtps_epi32(x.high);
    const __m128i c = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    const __m128i d = _mm_packs_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
    void* to = q;
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm_packs_epi16(c, d));
    return {a, b};
}
// Lane i of the result is v[i] folded, for eight vectors: a tree that halves the vectors, and the
// partial results of each, at every level.
template <__m256i (*kFold)(__m256i, __m256i)>
inline __m256i fold_eight(const Ints* v) {
    __m256i x[8];
    for (int i = 0; i < 8; ++i) x[i] = kFold(v[i].low, v[i].high);
    for (int i = 0; i < 4; ++i)
        x[i] = kFold(_mm256_permute2x128_si256(x[i], x[i + 4], 0x20),
                     _mm256_permute2x128_si256(x[i], x[i + 4], 0x31));
    for (int i = 0; i < 2; ++i)
        x[i] = kFold(_mm256_unpacklo_epi64(x[i], x[i + 2]), _mm256_unpackhi_epi64(x[i], x[i + 2]));
    const __m256 a = _mm256_castsi256_ps(x[0]);
    const __m256 b = _mm256_castsi256_ps(x[1]);
    const __m256i folded = kFold(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                                 _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)));
    const __m256i order = _mm256_setr_epi32(0, 2, 1, 3, 4, 6, 5, 7);
    return _mm256_permutevar8x32_epi32(folded, order);
}
template <__m256i (*kFold)(__m256i, __m256i)>
inline Ints fold_each(const Ints (&v)[16]) {
    return {fold_eight<kFold>(v), fold_eight<kFold>(v + 8)};
}

// ---- kLanes rows. `part` says which kLanes of a group's 16 rows: 0 or 1.
using Rows = __m256;

inline Rows rows_zero() { return _mm256_setzero_ps(); }
inline Rows rows_set(float x) { return _mm256_set1_ps(x); }
inline Rows rows_load(const float* p) { return _mm256_loadu_ps(p); }
inline void rows_store(float* p, Rows x) { _mm256_storeu_ps(p, x); }
inline Rows rows_add(Rows a, Rows b) { return _mm256_add_ps(a, b); }
inline Rows rows_mul(Rows a, Rows b) { return _mm256_mul_ps(a, b); }
inline Rows rows_fma(Rows a, Rows b, Rows c) { return _mm256_fmadd_ps(a, b, c); }
inline Rows rows_negate(Rows x) { return _mm256_xor_ps(x, _mm256_set1_ps(-0.0F)); }
inline Rows rows_f32(const std::uint8_t* group, int part) {
    const void* p = group + 32 * part;
    return _mm256_loadu_ps(static_cast<const float*>(p));
}
inline Rows rows_f16(const std::uint8_t* group, int part) {
    return half_from_f16(group + 16 * part);
}
inline Rows rows_bf16(const std::uint8_t* group, int part) {
    const void* p = group + 16 * part;
    const __m128i h = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
inline Rows rows_u8(const std::uint8_t* group, int part) {
    const void* p = group + 8 * part;
    const __m128i b = _mm_loadl_epi64(static_cast<const __m128i*>(p));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(b));
}
inline Rows rows_i8(const std::uint8_t* group, int part) {
    const void* p = group + 8 * part;
    const __m128i b = _mm_loadl_epi64(static_cast<const __m128i*>(p));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(b));
}

// ---- four bytes of each row
using Quads = __m256i;

inline Quads quads_load(const std::uint8_t* group_vector, int part) {
    const void* p = group_vector + 32 * part;
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline Quads either(Quads a, Quads b) { return _mm256_or_si256(a, b); }
// The bits of each byte shifted up (down when negative) and masked; the mask must not let bits of a
// neighbouring byte through.
template <int kShift, int kMask>
inline Quads bits(Quads x) {
    if constexpr (kShift > 0) x = _mm256_slli_epi16(x, kShift);
    if constexpr (kShift < 0) x = _mm256_srli_epi16(x, -kShift);
    return _mm256_and_si256(x, _mm256_set1_epi8(kMask));
}

// ---- exact sums of bytes of the rows times signed bytes that all rows share
// vpmaddubsw adds two products in int16 and holds at 32767. 4-bit weights: a whole block fits
// (16 products of 15 * 127). 5 and 6 bits: two such pairs (4 * 63 * 127 = 32004). 8 bits: one pair,
// with the sign moved from the weight to the activation (2 * 128 * 127 = 32512).
// 8-bit weights lie as q + 128.
inline Quads eight_bits(Quads w) { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
template <int kBits>
struct Sum {
    __m256i value;  // int16 for 4 bits, else int32
};
inline __m256i shared_quad(const std::int8_t* a) {
    std::int32_t quad;
    std::memcpy(&quad, a, sizeof quad);
    return _mm256_set1_epi32(quad);
}
template <int kBits>
inline Sum<kBits> sum_start(const std::int32_t* /*start*/) {
    return {_mm256_setzero_si256()};
}
inline __m256i signed_pairs(Quads w, const std::int8_t* a) {
    return _mm256_madd_epi16(
        _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(shared_quad(a), w)),
        _mm256_set1_epi16(1));
}
template <int kBits>
inline void sum_add(Sum<kBits>& sum, Quads w0, const std::int8_t* a0, Quads w1,
                    const std::int8_t* a1) {
    if constexpr (kBits == 8) {
        sum.value = _mm256_add_epi32(sum.value, signed_pairs(w0, a0));
        sum.value = _mm256_add_epi32(sum.value, signed_pairs(w1, a1));
    } else {
        const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(w0, shared_quad(a0)),
                                               _mm256_maddubs_epi16(w1, shared_quad(a1)));
        if constexpr (kBits == 4)
            sum.value = _mm256_add_epi16(sum.value, pairs);
        else
            sum.value = _mm256_add_epi32(sum.value, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
}
template <int kBits>
inline Rows sum_end(const Sum<kBits>& sum, const std::int32_t* start) {
    __m256i value = sum.value;
    if constexpr (kBits == 4) value = _mm256_madd_epi16(value, _mm256_set1_epi16(1));
    if (start != nullptr && kBits != 8) value = _mm256_add_epi32(value, _mm256_set1_epi32(*start));
    return _mm256_cvtepi32_ps(value);
}

}  // namespace simd_avx2
}  // namespace
}  // namespace hearth::cpu
