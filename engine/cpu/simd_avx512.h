// The words of the kernels in AVX-512 (F, BW, VL, DQ, VNNI): one register is 16 rows or 16 floats.
// Included only by kernels_avx512*.cpp, which are compiled for that instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace hearth::cpu {
namespace {
namespace simd_avx512 {

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
using Wide = __m512;

inline Wide zero() { return _mm512_setzero_ps(); }
inline Wide set(float x) { return _mm512_set1_ps(x); }
inline Wide load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Wide x) { _mm512_storeu_ps(p, x); }
inline __mmask16 first(int n) { return static_cast<__mmask16>((1U << n) - 1U); }
// The first n < 16 lanes; the others are +0 and not stored.
inline Wide load_first(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
inline void store_first(float* p, Wide x, int n) { _mm512_mask_storeu_ps(p, first(n), x); }
// The first n lanes of x, the others of y.
inline Wide first_of(Wide x, int n, Wide y) { return _mm512_mask_blend_ps(first(n), y, x); }
inline Wide add(Wide a, Wide b) { return _mm512_add_ps(a, b); }
inline Wide sub(Wide a, Wide b) { return _mm512_sub_ps(a, b); }
inline Wide mul(Wide a, Wide b) { return _mm512_mul_ps(a, b); }
inline Wide div(Wide a, Wide b) { return _mm512_div_ps(a, b); }
inline Wide fma(Wide a, Wide b, Wide c) { return _mm512_fmadd_ps(a, b, c); }
// A NaN in b survives.
inline Wide max(Wide a, Wide b) { return _mm512_max_ps(a, b); }
inline Wide min(Wide a, Wide b) { return _mm512_min_ps(a, b); }
// p * 2^n for whole n, rounded once.
inline Wide scale_by_power(Wide p, Wide n) { return _mm512_scalef_ps(p, n); }
inline Wide from_f16(const void* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline void to_f16(void* p, Wide x) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

// Lanes added 8, 4, 2, 1 apart.
inline float fold(Wide p) {
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(p), _mm512_extractf32x8_ps(p, 1));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
inline float largest(Wide x) { return _mm512_reduce_max_ps(x); }

// ---- 16 integers, for the rounding of activations
using Ints = __m512i;

inline Ints ints_zero() { return _mm512_setzero_si512(); }
inline Ints ints_add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
inline Ints ints_max(Ints a, Ints b) { return _mm512_max_epu32(a, b); }
inline void ints_store(void* p, Ints x) { _mm512_storeu_si512(p, x); }
// The bits without sign.
inline Ints magnitude(Wide x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}
// Stores the nearest integers of 16 x, all within -127..127, as bytes, and gives them.
inline Ints round_to_bytes(Wide x, std::int8_t* q) {
    const __m512i i = _mm512_cvtps_epi32(x);
    void* to = q;
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtepi32_epi8(i));
    return i;
}
// Lane i of the result is v[i] folded with the operation: a tree that halves the vectors, and the
// partial results of each, at every level.
template <Ints (*kFold)(Ints, Ints)>
inline Ints fold_each(const Ints (&v)[16]) {
    Ints x[8];
    for (int i = 0; i < 8; ++i)
        x[i] = kFold(_mm512_shuffle_i32x4(v[i], v[i + 8], 0x44),
                     _mm512_shuffle_i32x4(v[i], v[i + 8], 0xee));
    for (int i = 0; i < 4; ++i)
        x[i] = kFold(_mm512_shuffle_i32x4(x[i], x[i + 4], 0x88),
                     _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd));
    for (int i = 0; i < 2; ++i)
        x[i] = kFold(_mm512_unpacklo_epi64(x[i], x[i + 2]), _mm512_unpackhi_epi64(x[i], x[i + 2]));
    const __m512 a = _mm512_castsi512_ps(x[0]);
    const __m512 b = _mm512_castsi512_ps(x[1]);
    const Ints folded = kFold(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)),
                              _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd)));
    // Quarters hold 0.., 8.., 4.., 12..; within one the order is 0, 2, 1, 3.
    const __m512i order = _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15);
    return _mm512_permutexvar_epi32(order, folded);
}

// ---- kLanes rows. `part` says which kLanes of a group's 16 rows: always 0 here.
using Rows = __m512;

inline Rows rows_zero() { return _mm512_setzero_ps(); }
inline Rows rows_set(float x) { return _mm512_set1_ps(x); }
inline Rows rows_load(const float* p) { return _mm512_loadu_ps(p); }
inline void rows_store(float* p, Rows x) { _mm512_storeu_ps(p, x); }
inline Rows rows_add(Rows a, Rows b) { return _mm512_add_ps(a, b); }
inline Rows rows_mul(Rows a, Rows b) { return _mm512_mul_ps(a, b); }
inline Rows rows_fma(Rows a, Rows b, Rows c) { return _mm512_fmadd_ps(a, b, c); }
inline Rows rows_negate(Rows x) { return _mm512_xor_ps(x, _mm512_set1_ps(-0.0F)); }
inline Rows rows_f32(const std::uint8_t* group, int /*part*/) { return _mm512_loadu_ps(group); }
inline Rows rows_f16(const std::uint8_t* group, int /*part*/) { return from_f16(group); }
inline Rows rows_bf16(const std::uint8_t* group, int /*part*/) {
    const void* p = group;
    const __m256i h = _mm256_loadu_si256(static_cast<const __m256i*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
inline Rows rows_u8(const std::uint8_t* group, int /*part*/) {
    const void* p = group;
    const __m128i b = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(b));
}
inline Rows rows_i8(const std::uint8_t* group, int /*part*/) {
    const void* p = group;
    const __m128i b = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(b));
}

// ---- four bytes of each row
using Quads = __m512i;

inline Quads quads_load(const std::uint8_t* group_vector, int /*part*/) {
    return _mm512_loadu_si512(group_vector);
}
inline Quads either(Quads a, Quads b) { return _mm512_or_si512(a, b); }
// The bits of each byte shifted up (down when negative) and masked; the mask must not let bits of a
// neighbouring byte through.
template <int kShift, int kMask>
inline Quads bits(Quads x) {
    if constexpr (kShift > 0) x = _mm512_slli_epi16(x, kShift);
    if constexpr (kShift < 0) x = _mm512_srli_epi16(x, -kShift);
    return _mm512_and_si512(x, _mm512_set1_epi8(kMask));
}

// ---- exact sums of unsigned bytes of the rows times signed bytes that all rows share
// 8-bit weights lie as q + 128, which is how they are used.
inline Quads eight_bits(Quads w) { return w; }
template <int kBits>
struct Sum {
    __m512i value;
};
inline __m512i shared_quad(const std::int8_t* a) {
    std::int32_t quad;
    std::memcpy(&quad, a, sizeof quad);
    return _mm512_set1_epi32(quad);
}
template <int kBits>
inline Sum<kBits> sum_start(const std::int32_t* start) {
    return {start == nullptr ? _mm512_setzero_si512() : _mm512_set1_epi32(*start)};
}
template <int kBits>
inline void sum_add(Sum<kBits>& sum, Quads w0, const std::int8_t* a0, Quads w1,
                    const std::int8_t* a1) {
    sum.value = _mm512_dpbusd_epi32(sum.value, w0, shared_quad(a0));
    sum.value = _mm512_dpbusd_epi32(sum.value, w1, shared_quad(a1));
}
template <int kBits>
inline Rows sum_end(const Sum<kBits>& sum, const std::int32_t* /*start*/) {
    return _mm512_cvtepi32_ps(sum.value);
}

}  // namespace simd_avx512
}  // namespace
}  // namespace hearth::cpu
