// The loops are written once, over pieces of a constant length that compilers turn into vectors,
// and compiled twice on x86: for any machine, and for AVX2 with FMA. Both give equal bits, since
// each step is one IEEE operation.
#include "engine/sample/softmax.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "engine/ops/math.h"

namespace hearth::sample {

namespace {

constexpr int kPiece = 64;

struct Piece {
    const float* in;
    float* out;
    int count;  // at most kPiece
};

// exp of one piece; partials gets element i in i mod 16.
inline void exp_piece(const Piece& piece, float max, SumPartials& partials) {
    if (piece.count == kPiece) {
        for (int i = 0; i < kPiece; ++i) piece.out[i] = exp_f32(piece.in[i] - max);
    } else {
        for (int i = 0; i < piece.count; ++i) piece.out[i] = exp_f32(piece.in[i] - max);
    }
    for (int i = 0; i < piece.count; ++i)
        partials[static_cast<std::size_t>(i % kSumPartials)] += piece.out[i];
}

inline float exp_block(const float* in, float max, float* out, int count) {
    SumPartials partials{};
    for (int first = 0; first < count; first += kPiece)
        exp_piece({in + first, out + first, std::min(kPiece, count - first)}, max, partials);
    return fold_sum16(partials);
}

using ExpBlock = float (*)(const float* in, float max, float* out, int count);

float exp_block_plain(const float* in, float max, float* out, int count) {
    return exp_block(in, max, out, count);
}

#if defined(__x86_64__)
// `flatten` puts the whole body inside this function, so that no shared inline function is compiled
// for AVX2.
__attribute__((target("avx2,fma"), flatten)) float exp_block_avx2(const float* in, float max,
                                                                  float* out, int count) {
    return exp_block(in, max, out, count);
}

ExpBlock choose_exp_block() {
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has_avx2 ? exp_block_avx2 : exp_block_plain;
}
#else
ExpBlock choose_exp_block() { return exp_block_plain; }
#endif

}  // namespace

Extent extent(std::span<const float> values) {
    constexpr int kLanes = 16;
    float max[kLanes];
    float bad[kLanes];  // 0 while everything was finite, else NaN: x - x is 0 or NaN
    std::fill_n(max, kLanes, -std::numeric_limits<float>::infinity());
    std::fill_n(bad, kLanes, 0.0F);
    std::size_t first = 0;
    for (; first + kLanes <= values.size(); first += kLanes) {
        const float* x = values.data() + first;
        for (int j = 0; j < kLanes; ++j) {
            max[j] = x[j] > max[j] ? x[j] : max[j];
            bad[j] += x[j] - x[j];
        }
    }
    for (; first < values.size(); ++first) {
        max[0] = values[first] > max[0] ? values[first] : max[0];
        bad[0] += values[first] - values[first];
    }
    Extent result{.max = max[0], .is_finite = true};
    for (int j = 0; j < kLanes; ++j) {
        result.max = std::max(result.max, max[j]);
        result.is_finite = result.is_finite && bad[j] == 0.0F;
    }
    return result;
}

void exp_blocks(std::span<const float> values, float max, std::span<float> out,
                std::span<float> block_sums) {
    static const ExpBlock exp_of_block = choose_exp_block();
    const int count = static_cast<int>(values.size());
    for (int first = 0; first < count; first += kSoftmaxBlock) {
        const int length = std::min(kSoftmaxBlock, count - first);
        block_sums[static_cast<std::size_t>(first / kSoftmaxBlock)] =
            exp_of_block(values.data() + first, max, out.data() + first, length);
    }
}

}  // namespace hearth::sample
