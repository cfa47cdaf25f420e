// Q5_K: 256 elements in 8 sub-blocks, w = (d sc) q - (dmin mn), the fifth bits apart.
#include "engine/quant/blocks.h"
#include "engine/quant/formats.h"
#include "engine/quant/search.h"
#include "engine/tensor/half.h"

namespace hearth::quant {

void decode_q5_k(const std::byte* from, IntegerForm out) {
    const auto block = load_block<BlockQ5_K>(from);
    const float d = f32_from_f16(block.d);
    const float dmin = f32_from_f16(block.dmin);
    const KScales scales = KScales::unpack(block.scales);
    for (int i = 0; i < 8; ++i) {
        out.scale[i] = d * static_cast<float>(scales.scale[i]);
        out.min[i] = -(dmin * static_cast<float>(scales.min[i]));
        const int shift = 4 * (i % 2);
        for (int j = 0; j < 32; ++j) {
            const int low = (block.qs[32 * (i / 2) + j] >> shift) & 15;
            const int fifth = (block.qh[j] >> i) & 1;
            out.q[32 * i + j] = static_cast<std::int8_t>(low | (fifth << 4));
        }
    }
}

void encode_q5_k(const float* in, std::byte* to) {
    const AffineSuperBlock rounded = round_affine(std::span<const float, 256>(in, 256), 31);
    BlockQ5_K block = {};
    block.d = rounded.d;
    block.dmin = rounded.dmin;
    KScales scales;
    for (int i = 0; i < 8; ++i) {
        scales.scale[i] = rounded.scale[i];
        scales.min[i] = rounded.min[i];
        const int shift = 4 * (i % 2);
        for (int j = 0; j < 32; ++j) {
            const unsigned q = rounded.q[32 * i + j];
            std::uint8_t& low = block.qs[32 * (i / 2) + j];
            low = static_cast<std::uint8_t>(low | ((q & 15U) << shift));
            block.qh[j] = static_cast<std::uint8_t>(block.qh[j] | ((q >> 4) << i));
        }
    }
    scales.pack(block.scales);
    store_block(block, to);
}

}  // namespace hearth::quant
