// All algorithms, and the table of them, for the instruction set that the including file has named
// `simd`. Everything that is compiled here sits in unnamed namespaces, so that the linker can never
// take code of one instruction set for another.
#include "engine/cpu/kernel_table.h"
#include "engine/cpu/layout.h"
#include "engine/ops/math.h"  // its constants only: a function of it could be compiled for AVX

#ifndef HEARTH_UNROLL
#define HEARTH_UNROLL _Pragma("GCC unroll 16")
#endif

namespace hearth::cpu {
namespace {

template <typename T>
inline const T* as(const std::uint8_t* p) {
    return static_cast<const T*>(static_cast<const void*>(p));
}
template <typename T>
inline T* as(std::uint8_t* p) {
    return static_cast<T*>(static_cast<void*>(p));
}

}  // namespace
}  // namespace hearth::cpu

#include "engine/cpu/rows_inl.h"
//
#include "engine/cpu/attend_inl.h"
#include "engine/cpu/product_inl.h"
//
#include "engine/cpu/plain_product_inl.h"
//
#include "engine/cpu/product_rows_inl.h"

namespace hearth::cpu {
namespace {

constexpr int at(DType type) { return static_cast<int>(type); }

constexpr KernelTable make_table(const char* name) {
    KernelTable table = {};
    table.name = name;
    table.tile_tokens = simd::kTileTokens;
    table.product[at(DType::f32)] = product_rows<PlainTile<PlainF32>>;
    table.product[at(DType::f16)] = product_rows<PlainTile<PlainF16>>;
    table.product[at(DType::bf16)] = product_rows<PlainTile<PlainBf16>>;
    table.product[at(DType::q8_0)] = product_rows<QuantTile<Q8_0>>;
    table.product[at(DType::q4_0)] = product_rows<QuantTile<Q4_0>>;
    table.product[at(DType::q4_1)] = product_rows<QuantTile<Q4_1>>;
    table.product[at(DType::q5_0)] = product_rows<QuantTile<Q5_0>>;
    table.product[at(DType::q5_1)] = product_rows<QuantTile<Q5_1>>;
    table.product[at(DType::q4_k)] = product_rows<QuantTile<Q4_K>>;
    table.product[at(DType::q5_k)] = product_rows<QuantTile<Q5_K>>;
    table.product[at(DType::q6_k)] = product_rows<QuantTile<Q6_K>>;
    table.prepare = prepare_panels;
    table.rms_norm = rms_norm;
    table.add = add_rows;
    table.silu_mul = silu_mul;
    table.rope = rope_row;
    table.to_f16 = to_f16_row;
    table.attend_chunk = attend_chunk;
    table.merge = merge_chunks;
    table.divide = divide_row;
    return table;
}

}  // namespace
}  // namespace hearth::cpu
