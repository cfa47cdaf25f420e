#include "engine/cpu/packed_weight.h"

#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/cpu/layout.h"
#include "engine/quant/blocks.h"
#include "engine/tensor/half.h"

namespace hearth::cpu {
namespace {

using quant::load_block;

// 32 columns of one row: the numbers as stored, with the offset of their format still on them
// (q + 8 for Q4_0, q + 128 for Q8_0).
struct Codes {
    std::uint8_t q[kBlockCols];
};

// ---- out of the file's blocks

void split_nibbles(const std::uint8_t* qs, Codes& out) {
    for (int j = 0; j < 16; ++j) {
        out.q[j] = qs[j] & 15;
        out.q[16 + j] = qs[j] >> 4;
    }
}

void add_fifth_bits(const std::uint8_t* qh, Codes& out) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, qh, sizeof bits);
    for (int j = 0; j < kBlockCols; ++j)
        out.q[j] = static_cast<std::uint8_t>(out.q[j] | (((bits >> j) & 1U) << 4));
}

template <typename Block>
Codes read_block(const std::byte* row, int block) {
    const auto from = load_block<Block>(row + sizeof(Block) * static_cast<std::size_t>(block));
    Codes out;
    split_nibbles(from.qs, out);
    if constexpr (requires { from.qh; }) add_fifth_bits(from.qh, out);
    return out;
}

Codes read_q8_0(const std::byte* row, int block) {
    const std::byte* from = row + sizeof(quant::BlockQ8_0) * static_cast<std::size_t>(block);
    Codes out;
    std::memcpy(out.q, from + offsetof(quant::BlockQ8_0, qs), sizeof out.q);
    for (std::uint8_t& q : out.q) q = q ^ 0x80U;
    return out;
}

template <typename Block>
Codes read_k45(const std::byte* row, int block) {
    const std::byte* from = row + sizeof(Block) * static_cast<std::size_t>(block / kSuperBlocks);
    const int sub = block % kSuperBlocks;
    std::uint8_t qs[kBlockCols];
    std::memcpy(qs, from + offsetof(Block, qs) + 32 * (sub / 2), sizeof qs);
    Codes out;
    for (int j = 0; j < kBlockCols; ++j)
        out.q[j] = static_cast<std::uint8_t>((qs[j] >> (4 * (sub % 2))) & 15);
    if constexpr (requires(Block b) { b.qh; }) {
        std::uint8_t qh[kBlockCols];
        std::memcpy(qh, from + offsetof(Block, qh), sizeof qh);
        for (int j = 0; j < kBlockCols; ++j)
            out.q[j] = static_cast<std::uint8_t>(out.q[j] | (((qh[j] >> sub) & 1) << 4));
    }
    return out;
}

Codes read_q6_k(const std::byte* row, int block) {
    const std::byte* from =
        row + sizeof(quant::BlockQ6_K) * static_cast<std::size_t>(block / kSuperBlocks);
    const int half = block % kSuperBlocks / 4;
    const int r = block % 4;
    std::uint8_t low[kBlockCols];
    std::uint8_t high[kBlockCols];
    std::memcpy(low, from + offsetof(quant::BlockQ6_K, ql) + 64 * half + 32 * (r % 2), sizeof low);
    std::memcpy(high, from + offsetof(quant::BlockQ6_K, qh) + 32 * half, sizeof high);
    Codes out;
    for (int j = 0; j < kBlockCols; ++j)
        out.q[j] = static_cast<std::uint8_t>(((low[j] >> (4 * (r / 2))) & 15) |
                                             (((high[j] >> (2 * r)) & 3) << 4));
    return out;
}

Codes read_codes(DType type, const std::byte* row, int block) {
    switch (type) {
        case DType::q8_0:
            return read_q8_0(row, block);
        case DType::q4_0:
            return read_block<quant::BlockQ4_0>(row, block);
        case DType::q4_1:
            return read_block<quant::BlockQ4_1>(row, block);
        case DType::q5_0:
            return read_block<quant::BlockQ5_0>(row, block);
        case DType::q5_1:
            return read_block<quant::BlockQ5_1>(row, block);
        case DType::q4_k:
            return read_k45<quant::BlockQ4_K>(row, block);
        case DType::q5_k:
            return read_k45<quant::BlockQ5_K>(row, block);
        case DType::q6_k:
            return read_q6_k(row, block);
        default:
            break;
    }
    HEARTH_CHECK(false);
    return {};
}

// ---- into the vectors of a block, and out of them again

// The byte that holds column c of row r, when a vector has 4 columns.
std::size_t vector_byte(int c, int r) {
    return static_cast<std::size_t>(kVectorBytes * (c / 4) + 4 * r + c % 4);
}

void place_codes(int bits, int r, const Codes& in, std::uint8_t* quants) {
    if (bits == 8) {
        for (int v = 0; v < 8; ++v) std::memcpy(quants + kVectorBytes * v + 4 * r, in.q + 4 * v, 4);
        return;
    }
    for (int j = 0; j < 16; ++j)
        quants[vector_byte(j, r)] =
            static_cast<std::uint8_t>((in.q[j] & 15) | ((in.q[16 + j] & 15) << 4));
    std::uint8_t* high = quants + 4 * kVectorBytes;
    for (int c = 0; bits > 4 && c < kBlockCols; ++c) {
        const int v = c % 16 / 4;
        const bool upper = c >= 16;
        const unsigned top = static_cast<unsigned>(in.q[c]) >> 4;
        std::uint8_t& byte = high[4 * r + c % 4 + (bits == 6 && upper ? kVectorBytes : 0)];
        const unsigned shift = static_cast<unsigned>(bits == 6 ? 2 * v : v + (upper ? 4 : 0));
        byte = static_cast<std::uint8_t>(byte | (top << shift));
    }
}

Codes take_codes(int bits, int r, const std::uint8_t* quants) {
    Codes out;
    if (bits == 8) {
        for (int v = 0; v < 8; ++v)
            std::memcpy(out.q + 4 * v, quants + kVectorBytes * v + 4 * r, 4);
        return out;
    }
    const std::uint8_t* high = quants + 4 * kVectorBytes;
    for (int c = 0; c < kBlockCols; ++c) {
        const int v = c % 16 / 4;
        const bool upper = c >= 16;
        unsigned q = static_cast<unsigned>(quants[vector_byte(c % 16, r)] >> (upper ? 4 : 0)) & 15U;
        if (bits == 5)
            q |= (static_cast<unsigned>(high[4 * r + c % 4] >> (v + (upper ? 4 : 0))) & 1U) << 4;
        if (bits == 6)
            q |= (static_cast<unsigned>(high[4 * r + c % 4 + (upper ? kVectorBytes : 0)] >>
                                        (2 * v)) &
                  3U)
                 << 4;
        out.q[c] = static_cast<std::uint8_t>(q);
    }
    return out;
}

// ---- scales

// One f16 of a row, at `slot` (0: d, 1: m or dmin) of a unit's scales.
void place_half(const std::byte* from, int slot, int r, std::uint8_t* scales) {
    std::memcpy(scales + 32 * slot + 2 * r, from, 2);
}
float take_half(int slot, int r, const std::uint8_t* scales) {
    std::uint16_t half = 0;
    std::memcpy(&half, scales + 32 * slot + 2 * r, sizeof half);
    return f32_from_f16(half);
}

// `from` is the file's block that one unit was made of.
void place_scales(DType type, const std::byte* from, int r, std::uint8_t* scales) {
    if (type == DType::q6_k) {
        const auto block = load_block<quant::BlockQ6_K>(from);
        place_half(from + offsetof(quant::BlockQ6_K, d), 0, r, scales);
        for (int i = 0; i < 16; ++i)
            scales[32 + 16 * i + r] = static_cast<std::uint8_t>(block.scales[i]);
        return;
    }
    place_half(from, 0, r, scales);  // d comes first in all others, then the minimum
    if (!layout_of(type).minima) return;
    place_half(from + 2, 1, r, scales);
    if (type != DType::q4_k && type != DType::q5_k) return;
    std::uint8_t packed[12];
    std::memcpy(packed, from + offsetof(quant::BlockQ4_K, scales), sizeof packed);
    const quant::KScales unpacked = quant::KScales::unpack(packed);
    for (int i = 0; i < kSuperBlocks; ++i) {
        scales[64 + 32 * i + r] = unpacked.scale[i];
        scales[64 + 32 * i + 16 + r] = unpacked.min[i];
    }
}
static_assert(offsetof(quant::BlockQ4_K, scales) == offsetof(quant::BlockQ5_K, scales));

// ---- whole rows

std::size_t scales_bytes(DType type, int cols) {
    const Layout layout = layout_of(type);
    return align_up(static_cast<std::size_t>(layout.scale_bytes) *
                        static_cast<std::size_t>(cols / layout.unit_cols),
                    kVectorBytes);
}

std::size_t group_bytes(DType type, int cols) {
    const Layout layout = layout_of(type);
    return align_up(
        scales_bytes(type, cols) + static_cast<std::size_t>(layout.quant_bytes) *
                                       static_cast<std::size_t>(cols / layout.unit_cols),
        kVectorBytes);
}

void pack_row(DType type, int cols, const std::byte* row, int r, std::uint8_t* group) {
    const Layout layout = layout_of(type);
    if (layout.bits == 0) {
        const std::size_t size = static_cast<std::size_t>(layout.quant_bytes) / kGroupRows;
        for (int c = 0; c < cols; ++c)
            std::memcpy(group + size * static_cast<std::size_t>(kGroupRows * c + r),
                        row + size * static_cast<std::size_t>(c), size);
        return;
    }
    const std::size_t unit_bytes = static_cast<std::size_t>(dtype_info(type).block_bytes);
    for (int u = 0; u < cols / layout.unit_cols; ++u)
        place_scales(type, row + unit_bytes * static_cast<std::size_t>(u), r,
                     group + layout.scale_bytes * u);
    std::uint8_t* quants = group + scales_bytes(type, cols);
    for (int b = 0; b < cols / kBlockCols; ++b)
        place_codes(layout.bits, r, read_codes(type, row, b),
                    quants + block_quant_bytes(layout.bits) * b);
}

void unpack_floats(const PackedRows& rows, const std::uint8_t* group, int r, float* out) {
    for (int c = 0; c < rows.cols; ++c) {
        const std::uint8_t* at = group + layout_of(rows.type).quant_bytes * c;
        if (rows.type == DType::f32) {
            std::memcpy(out + c, at + 4 * r, 4);
            continue;
        }
        std::uint16_t half = 0;
        std::memcpy(&half, at + 2 * r, sizeof half);
        out[c] = rows.type == DType::f16 ? f32_from_f16(half) : f32_from_bf16(half);
    }
}

// scale * (q - offset), then + or - the minimum: each step rounded, as engine/quant unpacks.
void unpack_block(const PackedRows& rows, const std::uint8_t* group, int r, int block, float* out) {
    const Layout layout = layout_of(rows.type);
    const Codes codes = take_codes(
        layout.bits, r,
        group + rows.quants_at + static_cast<std::size_t>(block_quant_bytes(layout.bits) * block));
    const int unit = block * kBlockCols / layout.unit_cols;
    const int sub = block % kSuperBlocks;
    const std::uint8_t* scales = group + layout.scale_bytes * unit;
    const float d = take_half(0, r, scales);
    const float m = layout.minima ? take_half(1, r, scales) : 0.0F;
    const int offset = rows.type == DType::q8_0   ? 128
                       : rows.type == DType::q4_0 ? 8
                       : rows.type == DType::q5_0 ? 16
                                                  : 32;
    for (int c = 0; c < kBlockCols; ++c) {
        const auto q = static_cast<float>(codes.q[c]);
        const auto shifted = static_cast<float>(codes.q[c] - offset);
        if (rows.type == DType::q6_k) {
            const auto scale = static_cast<std::int8_t>(scales[32 + 16 * (2 * sub + c / 16) + r]);
            out[c] = (d * static_cast<float>(scale)) * shifted;
        } else if (layout.unit_cols != kBlockCols) {
            const std::uint8_t* at = scales + 64 + 32 * sub + r;
            out[c] = (d * static_cast<float>(at[0])) * q - m * static_cast<float>(at[16]);
        } else {
            out[c] = layout.minima ? d * q + m : d * shifted;
        }
    }
}

}  // namespace

Result<std::unique_ptr<PackedWeight>> PackedWeight::pack(std::span<const RowSegment> segments,
                                                         int cols, ThreadPool& pool) {
    auto weight = std::make_unique<PackedWeight>();
    std::size_t total = 0;
    for (const RowSegment& segment : segments) {
        PackedRows rows{segment.type,
                        segment.rows,
                        cols,
                        nullptr,
                        group_bytes(segment.type, cols),
                        scales_bytes(segment.type, cols)};
        HEARTH_CHECK(cols % dtype_info(segment.type).block_elements == 0 && segment.rows > 0);
        HEARTH_CHECK(segment.blocks.size() ==
                     row_bytes(segment.type, static_cast<std::uint64_t>(cols)).value().value_or(0) *
                         static_cast<std::size_t>(segment.rows));
        (layout_of(segment.type).bits == 0 ? weight->has_floats_ : weight->has_quants_) = true;
        total += rows.group_bytes * static_cast<std::size_t>(rows.groups());
        weight->segments_.push_back(rows);
    }
    HEARTH_TRY(weight->memory_, AlignedBuffer::allocate(total));
    madvise(weight->memory_.data(), total, MADV_HUGEPAGE);  // fewer misses of the TLB; may fail
    void* bytes = weight->memory_.data();
    auto* at = static_cast<std::uint8_t*>(bytes);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        PackedRows& rows = weight->segments_[i];
        rows.data = at;
        const std::byte* from = segments[i].blocks.data();
        const std::size_t row_size =
            segments[i].blocks.size() / static_cast<std::size_t>(rows.rows);
        pool.parallel_for(rows.groups(), [&](int first, int last) {
            for (int row = first * kGroupRows; row < last * kGroupRows && row < rows.rows; ++row)
                pack_row(rows.type, cols, from + row_size * static_cast<std::size_t>(row),
                         row % kGroupRows,
                         at + rows.group_bytes * static_cast<std::size_t>(row / kGroupRows));
        });
        at += rows.group_bytes * static_cast<std::size_t>(rows.groups());
    }
    return weight;
}

void PackedWeight::unpack_row(int row, float* out) const {
    for (const PackedRows& rows : segments_) {
        if (row >= rows.rows) {
            row -= rows.rows;
            continue;
        }
        const std::uint8_t* group =
            rows.data + rows.group_bytes * static_cast<std::size_t>(row / kGroupRows);
        const int r = row % kGroupRows;
        if (layout_of(rows.type).bits == 0) return unpack_floats(rows, group, r, out);
        for (int b = 0; b < rows.cols / kBlockCols; ++b)
            unpack_block(rows, group, r, b, out + kBlockCols * b);
        return;
    }
    HEARTH_CHECK(false);
}

}  // namespace hearth::cpu
