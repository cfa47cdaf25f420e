// Q8_0: 32 elements, w = d q.
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/rounding.h"

namespace hearth::quant {

void decode_q8_0(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ8_0>(from);
    out.scale[0] = f32_from_f16(block.d);
    for (int j = 0; j < 32; ++j) out.q[j] = block.qs[j];
}

void encode_q8_0(const float* in, std::byte* to) {
    const float d = held_to_f16(std::abs(signed_max(in, 32)) / 127.0F);
    const float inverse = inverse_or_zero(d);
    BlockQ8_0 block;
    block.d = f16_from_f32(d);
    for (int j = 0; j < 32; ++j) {
        const float q = std::clamp(std::round(in[j] * inverse), -127.0F, 127.0F);
        block.qs[j] = static_cast<std::int8_t>(q);
    }
    store_block(block, to);
}

}  // namespace hearth::quant
