#include "engine/quant/traits.h"

#include <algorithm>
#include <array>

#include "engine/base/check.h"
#include "engine/quant/formats.h"

namespace hearth::quant {
namespace {

using DecodeBlock = void (*)(const std::byte*, IntegerForm);
using EncodeBlock = void (*)(const float*, std::byte*);

struct Shape {
    std::size_t elements;  // of a block
    std::size_t bytes;     // of a block
    std::size_t sub_block;
    bool has_min;
};

template <Shape shape, DecodeBlock decode>
void unpack_integers(const std::byte* blocks, std::size_t elements, IntegerForm out) {
    for (std::size_t done = 0; done < elements; done += shape.elements) {
        decode(blocks, out);
        blocks += shape.bytes;
        out.q += shape.elements;
        out.scale += shape.elements / shape.sub_block;
        if constexpr (shape.has_min) out.min += shape.elements / shape.sub_block;
    }
}

// One rounding for the product and one for the sum. Without a minimum nothing is added, so that -0
// stays -0.
template <Shape shape, DecodeBlock decode>
void unpack(const std::byte* blocks, std::size_t elements, float* out) {
    std::array<std::int8_t, shape.elements> q;
    std::array<float, shape.elements / shape.sub_block> scale;
    std::array<float, shape.elements / shape.sub_block> min;
    for (std::size_t done = 0; done < elements; done += shape.elements) {
        decode(blocks, {.q = q.data(), .scale = scale.data(), .min = min.data()});
        for (std::size_t i = 0; i < shape.elements; ++i) {
            const float product = scale[i / shape.sub_block] * static_cast<float>(q[i]);
            if constexpr (shape.has_min) {
                out[i] = product + min[i / shape.sub_block];
            } else {
                out[i] = product;
            }
        }
        blocks += shape.bytes;
        out += shape.elements;
    }
}

template <Shape shape, EncodeBlock encode>
void pack(const float* in, std::size_t elements, std::byte* blocks) {
    for (std::size_t done = 0; done < elements; done += shape.elements) {
        encode(in, blocks);
        in += shape.elements;
        blocks += shape.bytes;
    }
}

template <Shape shape, DecodeBlock decode, EncodeBlock encode>
constexpr Traits block_traits(DType type) {
    return {.type = type,
            .sub_block = static_cast<int>(shape.sub_block),
            .has_min = shape.has_min,
            .unpack = unpack<shape, decode>,
            .pack = pack<shape, encode>,
            .unpack_integers = unpack_integers<shape, decode>};
}

constexpr std::array kTraits = {
    Traits{DType::f32, 0, false, unpack_f32, pack_f32, nullptr},
    Traits{DType::f16, 0, false, unpack_f16, pack_f16, nullptr},
    Traits{DType::bf16, 0, false, unpack_bf16, pack_bf16, nullptr},
    block_traits<Shape{32, 18, 32, false}, decode_q4_0, encode_q4_0>(DType::q4_0),
    block_traits<Shape{32, 20, 32, true}, decode_q4_1, encode_q4_1>(DType::q4_1),
    block_traits<Shape{32, 22, 32, false}, decode_q5_0, encode_q5_0>(DType::q5_0),
    block_traits<Shape{32, 24, 32, true}, decode_q5_1, encode_q5_1>(DType::q5_1),
    block_traits<Shape{32, 34, 32, false}, decode_q8_0, encode_q8_0>(DType::q8_0),
    block_traits<Shape{256, 144, 32, true}, decode_q4_k, encode_q4_k>(DType::q4_k),
    block_traits<Shape{256, 176, 32, true}, decode_q5_k, encode_q5_k>(DType::q5_k),
    block_traits<Shape{256, 210, 16, false}, decode_q6_k, encode_q6_k>(DType::q6_k),
};

}  // namespace

const Traits& traits(DType type) {
    const auto* found = std::ranges::find(kTraits, type, &Traits::type);
    HEARTH_CHECK(found != kTraits.end());
    return *found;
}

}  // namespace hearth::quant
