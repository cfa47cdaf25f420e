// Q4_0: 32 elements, w = d (q - 8).
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/rounding.h"

namespace hearth::quant {

void decode_q4_0(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ4_0>(from);
    out.scale[0] = f32_from_f16(block.d);
    for (int j = 0; j < 16; ++j) {
        out.q[j] = static_cast<std::int8_t>((block.qs[j] & 15) - 8);
        out.q[j + 16] = static_cast<std::int8_t>((block.qs[j] >> 4) - 8);
    }
}

// The element of largest magnitude becomes -8 exactly: that end of the range reaches one step
// further.
void encode_q4_0(const float* in, std::byte* to) {
    const float d = held_to_f16(signed_max(in, 32) / -8.0F);
    const float inverse = inverse_or_zero(d);
    BlockQ4_0 block;
    block.d = f16_from_f32(d);
    for (int j = 0; j < 16; ++j) {
        const unsigned low = cut(in[j] * inverse + 8.5F, 15.0F);
        const unsigned high = cut(in[j + 16] * inverse + 8.5F, 15.0F);
        block.qs[j] = static_cast<std::uint8_t>(low | (high << 4));
    }
    store_block(block, to);
}

}  // namespace hearth::quant
