// Q4_1: 32 elements, w = d q + m.
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/rounding.h"

namespace hearth::quant {

void decode_q4_1(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ4_1>(from);
    out.scale[0] = f32_from_f16(block.d);
    out.min[0] = f32_from_f16(block.m);
    for (int j = 0; j < 16; ++j) {
        out.q[j] = static_cast<std::int8_t>(block.qs[j] & 15);
        out.q[j + 16] = static_cast<std::int8_t>(block.qs[j] >> 4);
    }
}

void encode_q4_1(const float* in, std::byte* to) {
    const auto [low_end, high_end] = extremes(in, 32);
    const float d = held_to_f16((high_end - low_end) / 15.0F);
    const float inverse = inverse_or_zero(d);
    BlockQ4_1 block;
    block.d = f16_from_f32(d);
    block.m = f16_from_f32(held_to_f16(low_end));
    for (int j = 0; j < 16; ++j) {
        const unsigned low = cut((in[j] - low_end) * inverse + 0.5F, 15.0F);
        const unsigned high = cut((in[j + 16] - low_end) * inverse + 0.5F, 15.0F);
        block.qs[j] = static_cast<std::uint8_t>(low | (high << 4));
    }
    store_block(block, to);
}

}  // namespace hearth::quant
