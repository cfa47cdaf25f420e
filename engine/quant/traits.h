// Block formats: one table from type to functions. The formulas of each format stand in
// engine/quant/README.md.
//
// All functions take `elements`, a multiple of the type's block size, and plain memory without
// alignment demands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/tensor/dtype.h"

namespace hearth::quant {

// A run of blocks in the form that products read: weight = scale * q (+ min), per sub-block.
// Offsets of the format are taken off, so that q is signed: -8..7 for Q4_0, 0..15 for Q4_1 and
// Q4_K, -32..31 for Q6_K.
struct IntegerForm {
    std::int8_t* q;  // [elements]
    float* scale;    // [elements / sub_block]
    float* min;      // [elements / sub_block]; written only when has_min
};

struct Traits {
    DType type;
    int sub_block;  // elements per scale: 32, or 16 for Q6_K; 0 for F32, F16, BF16
    bool has_min;   // Q4_1, Q5_1, Q4_K, Q5_K

    // Blocks to floats, bit for bit what the Python package `gguf` gives.
    void (*unpack)(const std::byte* blocks, std::size_t elements, float* out);
    // Floats to blocks. Input must be finite.
    void (*pack)(const float* in, std::size_t elements, std::byte* blocks);
    // Null for F32, F16 and BF16.
    void (*unpack_integers)(const std::byte* blocks, std::size_t elements, IntegerForm out);
};

const Traits& traits(DType type);

}  // namespace hearth::quant
