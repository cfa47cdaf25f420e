// Finding scales for the k-quants: weighted least squares, alternating between the best integers
// for given scales and the best scales for given integers, from several starts.
#pragma once

#include <cstdint>
#include <span>

namespace hearth::quant {

// How much the error of each element counts: large weights matter more, but small ones not nothing.
//   out[i] = |x[i]| + root mean square of x
// Both spans have the same size.
void importance(std::span<const float> x, std::span<float> out);

struct AffineFit {
    float scale;  // >= 0
    float min;    // >= 0; x ~ scale * q - min
};

// The scale and minimum that minimise sum(w (scale q - min - x)^2) over q = 0..top.
AffineFit fit_affine(std::span<const float> x, std::span<const float> weight, int top);

// The scale, of either sign, that minimises sum(w (scale q - x)^2) over q = -reach..reach-1.
float fit_symmetric(std::span<const float> x, std::span<const float> weight, int reach);

// The nearest integer, held to low..high; NaN gives low. Halves go up.
inline int nearest(float scaled, int low, int high) {
    if (!(scaled > static_cast<float>(low))) return low;
    if (scaled >= static_cast<float>(high)) return high;
    return static_cast<int>(scaled - static_cast<float>(low) + 0.5F) + low;
}

// A super-block of Q4_K or Q5_K before it is laid out in bits.
struct AffineSuperBlock {
    std::uint16_t d;     // f16
    std::uint16_t dmin;  // f16
    std::uint8_t scale[8];
    std::uint8_t min[8];
    std::uint8_t q[256];
};

// Rounds 256 finite elements; top is 15 for Q4_K, 31 for Q5_K.
AffineSuperBlock round_affine(std::span<const float, 256> x, int top);

}  // namespace hearth::quant
