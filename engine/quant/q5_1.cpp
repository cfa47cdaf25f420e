// Q5_1: 32 elements, w = d q + m, the fifth bits apart.
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/rounding.h"

namespace hearth::quant {

void decode_q5_1(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ5_1>(from);
    std::uint32_t high_bits = 0;
    std::memcpy(&high_bits, block.qh, sizeof high_bits);
    out.scale[0] = f32_from_f16(block.d);
    out.min[0] = f32_from_f16(block.m);
    for (int j = 0; j < 16; ++j) {
        const int low_fifth = static_cast<int>((high_bits >> j) & 1U) << 4;
        const int high_fifth = static_cast<int>((high_bits >> (j + 16)) & 1U) << 4;
        out.q[j] = static_cast<std::int8_t>((block.qs[j] & 15) | low_fifth);
        out.q[j + 16] = static_cast<std::int8_t>((block.qs[j] >> 4) | high_fifth);
    }
}

void encode_q5_1(const float* in, std::byte* to) {
    const auto [low_end, high_end] = extremes(in, 32);
    const float d = held_to_f16((high_end - low_end) / 31.0F);
    const float inverse = inverse_or_zero(d);
    BlockQ5_1 block;
    block.d = f16_from_f32(d);
    block.m = f16_from_f32(held_to_f16(low_end));
    std::uint32_t high_bits = 0;
    for (int j = 0; j < 16; ++j) {
        const unsigned low = cut((in[j] - low_end) * inverse + 0.5F, 31.0F);
        const unsigned high = cut((in[j + 16] - low_end) * inverse + 0.5F, 31.0F);
        block.qs[j] = static_cast<std::uint8_t>((low & 15U) | ((high & 15U) << 4));
        high_bits |= (low >> 4) << j | (high >> 4) << (j + 16);
    }
    std::memcpy(block.qh, &high_bits, sizeof high_bits);
    store_block(block, to);
}

}  // namespace hearth::quant
