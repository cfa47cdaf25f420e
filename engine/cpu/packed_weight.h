// Weights as the CPU kernels read them: repacked at load so that the same columns of 16
// neighbouring rows lie side by side. The bytes are those of the file in another order (k-quants
// spend a few more on their scales), so the traffic of a product is the file's.
//
// A group of 16 rows is: the scales of all blocks, padding to 64 bytes, then the quants of all
// blocks. "[16]" is one value per row.
//
//   F32, F16, BF16  no scales; per column [16] values
//   Q8_0            d [16] f16; 8 vectors of 64 bytes: vector v, row r, byte j is q + 128 of column
//                   4 v + j
//   Q4_0, Q4_1      d [16] f16 (and m [16] f16); 4 vectors of 64 bytes: vector v, row r, byte j has
//                   column 4 v + j in its low and column 16 + 4 v + j in its high half
//   Q5_0, Q5_1      as the 4-bit types, and a fifth vector: bit v of byte j of row r is the fifth
//   bit
//                   of column 4 v + j, bit 4 + v that of column 16 + 4 v + j
//   Q4_K, Q5_K      per 256 columns: d, dmin [16] f16 and, for each of 8 sub-blocks, scales [16] u8
//                   and minima [16] u8; quants per sub-block as Q4_0, Q5_0
//   Q6_K            per 256 columns: d [16] f16, 16 times scales [16] i8; quants per 32 columns as
//                   Q4_0, and two more vectors: bits 2 v, 2 v + 1 of byte j of row r are the upper
//                   bits of column 4 v + j in the first and of column 16 + 4 v + j in the second
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/cpu/kernel_table.h"
#include "engine/ops/args.h"

namespace hearth::cpu {

class PackedWeight : public DeviceMemory {
public:
    // Repacks with all threads of the pool. no_memory; shapes are the caller's affair
    // (HEARTH_CHECK).
    static Result<std::unique_ptr<PackedWeight>> pack(std::span<const RowSegment> segments,
                                                      int cols, ThreadPool& pool);

    std::span<const PackedRows> segments() const { return segments_; }
    std::size_t bytes() const { return memory_.size(); }
    bool has_floats() const { return has_floats_; }
    bool has_quants() const { return has_quants_; }

    // Row `row` as floats, bit-equal to the unpacking of the file's blocks.
    void unpack_row(int row, float* out) const;

private:
    AlignedBuffer memory_;
    std::vector<PackedRows> segments_;
    bool has_floats_ = false;
    bool has_quants_ = false;
};

}  // namespace hearth::cpu
