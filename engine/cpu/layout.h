// Sizes and places inside packed weights; packed_weight.h says what lies where. Shared by the
// packing code and the kernels, so only constants.
#pragma once

#include <cstddef>

#include "engine/tensor/dtype.h"

namespace hearth::cpu {

constexpr int kVectorBytes = 64;  // four bytes of each of 16 rows
constexpr int kSuperBlocks = 8;   // blocks of 32 in a k-quant's 256

// One unit is what has scales of its own: a block of 32 columns, a super-block of 256, or a column.
struct Layout {
    int bits;  // of a quant; 0 for floats
    int unit_cols;
    int scale_bytes;  // per unit and group
    int quant_bytes;  // per unit and group
    bool minima;
};

constexpr Layout layout_of(DType type) {
    switch (type) {
        case DType::f32:
            return {0, 1, 0, 64, false};
        case DType::f16:
        case DType::bf16:
            return {0, 1, 0, 32, false};
        case DType::q8_0:
            return {8, 32, 32, 512, false};
        case DType::q4_0:
            return {4, 32, 32, 256, false};
        case DType::q4_1:
            return {4, 32, 64, 256, true};
        case DType::q5_0:
            return {5, 32, 32, 320, false};
        case DType::q5_1:
            return {5, 32, 64, 320, true};
        case DType::q4_k:
            return {4, 256, 64 + 8 * 32, 8 * 256, true};
        case DType::q5_k:
            return {5, 256, 64 + 8 * 32, 8 * 320, true};
        case DType::q6_k:
            return {6, 256, 32 + 16 * 16, 8 * 384, false};
    }
    return {};
}

// Bytes of the quants of 32 columns.
constexpr int block_quant_bytes(int bits) {
    return bits == 8 ? 8 * kVectorBytes : (bits == 4 ? 4 : bits == 5 ? 5 : 6) * kVectorBytes;
}

}  // namespace hearth::cpu
