// One block at a time: what each format's file defines and traits.cpp joins into loops over rows.
// Only engine/quant includes this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/quant/traits.h"

namespace hearth::quant {

// Decodes one block to integers and f32 scales, as traits.h says of unpack_integers.
void decode_q4_0(const std::byte* from, IntegerForm out);
void decode_q4_1(const std::byte* from, IntegerForm out);
void decode_q5_0(const std::byte* from, IntegerForm out);
void decode_q5_1(const std::byte* from, IntegerForm out);
void decode_q8_0(const std::byte* from, IntegerForm out);
void decode_q4_k(const std::byte* from, IntegerForm out);
void decode_q5_k(const std::byte* from, IntegerForm out);
void decode_q6_k(const std::byte* from, IntegerForm out);

// Rounds the 32 or 256 finite floats of one block. Scales beyond the largest f16 (65504) are held
// there.
void encode_q4_0(const float* in, std::byte* to);
void encode_q4_1(const float* in, std::byte* to);
void encode_q5_0(const float* in, std::byte* to);
void encode_q5_1(const float* in, std::byte* to);
void encode_q8_0(const float* in, std::byte* to);
void encode_q4_k(const float* in, std::byte* to);
void encode_q5_k(const float* in, std::byte* to);
void encode_q6_k(const float* in, std::byte* to);

// Plain types, whole rows.
void unpack_f32(const std::byte* from, std::size_t elements, float* out);
void unpack_f16(const std::byte* from, std::size_t elements, float* out);
void unpack_bf16(const std::byte* from, std::size_t elements, float* out);
void pack_f32(const float* in, std::size_t elements, std::byte* to);
void pack_f16(const float* in, std::size_t elements, std::byte* to);
void pack_bf16(const float* in, std::size_t elements, std::byte* to);

}  // namespace hearth::quant
