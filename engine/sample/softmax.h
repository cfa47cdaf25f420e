// Loops over a whole vocabulary. Their results are plain IEEE arithmetic in a fixed order, so they
// do not depend on the machine; where it has AVX2 they run on vectors.
#pragma once

#include <span>

namespace hearth::sample {

// Elements of one block of exp_blocks.
constexpr int kSoftmaxBlock = 256;

struct Extent {
    float max;       // of the finite elements and negative infinities; -infinity when there is none
    bool is_finite;  // every element is a finite number
};
Extent extent(std::span<const float> values);

// out[i] = exp(values[i] - max) with the exp of engine/ops/math.h, and block_sums[b] the sum of out
// over elements 256 b to 256 b + 255: 16 partials, element i to partial i mod 16, folded 8, 4,
// 2, 1. -infinity gives 0. out [values.size()], block_sums [ceil(values.size() / 256)].
void exp_blocks(std::span<const float> values, float max, std::span<float> out,
                std::span<float> block_sums);

}  // namespace hearth::sample
