// Steps that the encoders of the 32-element formats share. The order of roundings is that of the
// Python package `gguf`, so that both give the same bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/tensor/half.h"

namespace hearth::quant {

constexpr float kMaxF16 = 65504.0F;

// The element of largest magnitude, with its sign; the first of equals.
inline float signed_max(const float* in, int count) {
    float best = 0.0F;
    for (int i = 0; i < count; ++i)
        if (std::abs(in[i]) > std::abs(best)) best = in[i];
    return best;
}

// Held to what an f16 can say, so that no finite input becomes an infinite scale.
inline float held_to_f16(float value) { return std::clamp(value, -kMaxF16, kMaxF16); }

// 1 / d, or 0 where that is no finite number: such a d is 0 as an f16.
inline float inverse_or_zero(float d) {
    const float inverse = 1.0F / d;
    return std::isfinite(inverse) ? inverse : 0.0F;
}

// Cuts towards zero into 0..top.
inline unsigned cut(float value, float top) {
    return static_cast<unsigned>(std::clamp(value, 0.0F, top));
}

struct Extremes {
    float low;
    float high;
};

inline Extremes extremes(const float* in, int count) {
    const auto [low, high] = std::minmax_element(in, in + count);
    return {*low, *high};
}

}  // namespace hearth::quant
