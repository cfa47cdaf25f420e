// Q6_K: 256 elements in 16 sub-blocks, w = (d sc) (q - 32).
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/rounding.h"
#include "engine/quant/search.h"

namespace hearth::quant {
namespace {

// Where the bits of element e of a block lie: see BlockQ6_K.
struct Place {
    int low_byte;
    int low_shift;
    int high_byte;
    int high_shift;
};

constexpr Place place(int e) {
    const int half = e / 128;
    const int row = e % 128 / 32;
    const int j = e % 32;
    return {64 * half + 32 * (row % 2) + j, 4 * (row / 2), 32 * half + j, 2 * row};
}

}  // namespace

void decode_q6_k(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ6_K>(from);
    const float d = f32_from_f16(block.d);
    for (int i = 0; i < 16; ++i) out.scale[i] = d * static_cast<float>(block.scales[i]);
    for (int e = 0; e < 256; ++e) {
        const Place at = place(e);
        const int low = (block.ql[at.low_byte] >> at.low_shift) & 15;
        const int high = (block.qh[at.high_byte] >> at.high_shift) & 3;
        out.q[e] = static_cast<std::int8_t>((low | (high << 4)) - 32);
    }
}

void encode_q6_k(const float* in, std::byte* to) {
    std::array<float, 16> scales = {};
    for (std::size_t i = 0; i < 16; ++i) {
        const std::span<const float> x(in + 16 * i, 16);
        std::array<float, 16> weight;
        importance(x, weight);
        scales[i] = fit_symmetric(x, weight, 32);
    }
    // The scale of largest magnitude becomes -128 exactly: that end of the range reaches one step
    // further.
    const float d_wanted = held_to_f16(signed_max(scales.data(), 16) / -128.0F);
    BlockQ6_K block = {};
    block.d = f16_from_f32(d_wanted);
    const float d = f32_from_f16(block.d);
    const float inverse_d = inverse_or_zero(d);
    for (int i = 0; i < 16; ++i) {
        const int scale = nearest(scales[static_cast<std::size_t>(i)] * inverse_d, -128, 127);
        block.scales[i] = static_cast<std::int8_t>(scale);
        const float inverse = inverse_or_zero(d * static_cast<float>(scale));
        for (int j = 0; j < 16; ++j) {
            const int e = 16 * i + j;
            const auto q = static_cast<unsigned>(nearest(in[e] * inverse, -32, 31) + 32);
            const Place at = place(e);
            std::uint8_t& low = block.ql[at.low_byte];
            std::uint8_t& high = block.qh[at.high_byte];
            low = static_cast<std::uint8_t>(low | ((q & 15U) << at.low_shift));
            high = static_cast<std::uint8_t>(high | ((q >> 4) << at.high_shift));
        }
    }
    store_block(block, to);
}

}  // namespace hearth::quant
