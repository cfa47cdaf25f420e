// Q4_K: 256 elements in 8 sub-blocks, w = (d sc) q - (dmin mn).
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/search.h"
#include "engine/tensor/half.h"

namespace hearth::quant {

void decode_q4_k(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ4_K>(from);
    const float d = f32_from_f16(block.d);
    const float dmin = f32_from_f16(block.dmin);
    const KScales scales = KScales::unpack(block.scales);
    for (int i = 0; i < 8; ++i) {
        out.scale[i] = d * static_cast<float>(scales.scale[i]);
        out.min[i] = -(dmin * static_cast<float>(scales.min[i]));
        const int shift = 4 * (i % 2);
        for (int j = 0; j < 32; ++j)
            out.q[32 * i + j] =
                static_cast<std::int8_t>((block.qs[32 * (i / 2) + j] >> shift) & 15);
    }
}

void encode_q4_k(const float* in, std::byte* to) {
    const AffineSuperBlock rounded = round_affine(std::span<const float, 256>(in, 256), 15);
    BlockQ4_K block = {};
    block.d = rounded.d;
    block.dmin = rounded.dmin;
    KScales scales;
    for (int i = 0; i < 8; ++i) {
        scales.scale[i] = rounded.scale[i];
        scales.min[i] = rounded.min[i];
        const int shift = 4 * (i % 2);
        for (int j = 0; j < 32; ++j) {
            std::uint8_t& byte = block.qs[32 * (i / 2) + j];
            byte = static_cast<std::uint8_t>(byte | (rounded.q[32 * i + j] << shift));
        }
    }
    scales.pack(block.scales);
    store_block(block, to);
}

}  // namespace hearth::quant
