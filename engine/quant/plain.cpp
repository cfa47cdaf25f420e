// F32, F16 and BF16: copies and conversions.
#include <cstring>

#include "engine/quant/formats.h"
#include "engine/tensor/half.h"

namespace hearth::quant {
namespace {

template <float (*convert)(std::uint16_t)>
void widen(const std::byte* from, std::size_t elements, float* out) {
    for (std::size_t i = 0; i < elements; ++i) {
        std::uint16_t half = 0;
        std::memcpy(&half, from + 2 * i, sizeof half);
        out[i] = convert(half);
    }
}

template <std::uint16_t (*convert)(float)>
void narrow(const float* in, std::size_t elements, std::byte* to) {
    for (std::size_t i = 0; i < elements; ++i) {
        const std::uint16_t half = convert(in[i]);
        std::memcpy(to + 2 * i, &half, sizeof half);
    }
}

}  // namespace

void unpack_f32(const std::byte* from, std::size_t elements, float* out) {
    if (elements > 0) std::memcpy(out, from, elements * sizeof(float));
}
void unpack_f16(const std::byte* from, std::size_t elements, float* out) {
    widen<f32_from_f16>(from, elements, out);
}
void unpack_bf16(const std::byte* from, std::size_t elements, float* out) {
    widen<f32_from_bf16>(from, elements, out);
}
void pack_f32(const float* in, std::size_t elements, std::byte* to) {
    if (elements > 0) std::memcpy(to, in, elements * sizeof(float));
}
void pack_f16(const float* in, std::size_t elements, std::byte* to) {
    narrow<f16_from_f32>(in, elements, to);
}
void pack_bf16(const float* in, std::size_t elements, std::byte* to) {
    narrow<bf16_from_f32>(in, elements, to);
}

}  // namespace hearth::quant
