#include "engine/reference/products.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/check.h"
#include "engine/ops/math.h"
#include "engine/quant/traits.h"

namespace hearth::reference {
namespace {

// One row of a quantized weight as integers, scales and minima.
struct IntegerRow {
    explicit IntegerRow(int cols)
        : q(static_cast<std::size_t>(cols)), scale(q.size() / 16), min(q.size() / 16) {}

    std::vector<std::int8_t> q;
    std::vector<float> scale;  // one per sub-block
    std::vector<float> min;
};

std::int32_t dot(const std::int8_t* a, const std::int8_t* b, int n) {
    std::int32_t sum = 0;
    for (int i = 0; i < n; ++i) sum += std::int32_t{a[i]} * std::int32_t{b[i]};
    return sum;
}

// Sub-blocks of 32: one scale per activation block, and perhaps a minimum.
float product_32(const IntegerRow& w, bool has_min, std::span<const RoundedBlock> x) {
    float acc = 0.0F;
    for (std::size_t b = 0; b < x.size(); ++b) {
        const RoundedBlock& a = x[b];
        const std::int32_t sum = dot(&w.q[b * 32], a.q.data(), 32);
        acc = std::fma(w.scale[b] * a.scale, static_cast<float>(sum), acc);
        if (has_min)
            acc = std::fma(w.min[b], a.scale * static_cast<float>(a.sums[0] + a.sums[1]), acc);
    }
    return acc;
}

// Sub-blocks of 16 (Q6_K): two scales per activation block.
float product_16(const IntegerRow& w, std::span<const RoundedBlock> x) {
    float acc = 0.0F;
    for (std::size_t b = 0; b < x.size(); ++b) {
        for (std::size_t half = 0; half < 2; ++half) {
            const std::int32_t sum = dot(&w.q[b * 32 + half * 16], &x[b].q[half * 16], 16);
            acc = std::fma(w.scale[2 * b + half] * x[b].scale, static_cast<float>(sum), acc);
        }
    }
    return acc;
}

void multiply_floats(const Segment& segment, View x, View out) {
    std::vector<float> w(static_cast<std::size_t>(x.cols));
    for (int r = 0; r < segment.rows; ++r) {
        quant::traits(segment.type).unpack(segment.row(r).data(), w.size(), w.data());
        for (int i = 0; i < x.rows; ++i) {
            float acc = 0.0F;
            for (std::size_t c = 0; c < w.size(); ++c) acc = std::fma(w[c], x.row(i)[c], acc);
            out.row(i)[segment.first_row + r] = acc;
        }
    }
}

// `rounded` has `blocks` blocks per row of x.
void multiply_blocks(const Segment& segment, std::span<const RoundedBlock> rounded, View x,
                     View out) {
    const quant::Traits& traits = quant::traits(segment.type);
    const std::size_t blocks = static_cast<std::size_t>(x.cols) / kRoundedBlock;
    IntegerRow w(x.cols);
    for (int r = 0; r < segment.rows; ++r) {
        traits.unpack_integers(segment.row(r).data(), w.q.size(),
                               {.q = w.q.data(), .scale = w.scale.data(), .min = w.min.data()});
        for (int i = 0; i < x.rows; ++i) {
            const auto row = rounded.subspan(static_cast<std::size_t>(i) * blocks, blocks);
            out.row(i)[segment.first_row + r] =
                traits.sub_block == 16 ? product_16(w, row) : product_32(w, traits.has_min, row);
        }
    }
}

bool is_quantized(const Segment& segment) {
    return quant::traits(segment.type).unpack_integers != nullptr;
}

}  // namespace

Result<std::unique_ptr<HostWeight>> HostWeight::make(std::span<const RowSegment> segments,
                                                     int cols) {
    auto weight = std::make_unique<HostWeight>();
    int first_row = 0;
    for (const RowSegment& from : segments) {
        HEARTH_TRY(AlignedBuffer blocks, AlignedBuffer::allocate(from.blocks.size()));
        std::ranges::copy(from.blocks, blocks.data());
        const auto bytes = row_bytes(from.type, static_cast<std::uint64_t>(cols)).value();
        HEARTH_CHECK(bytes.has_value());
        weight->segments_.push_back({.type = from.type,
                                     .first_row = first_row,
                                     .rows = from.rows,
                                     .row_bytes = static_cast<std::size_t>(*bytes),
                                     .blocks = std::move(blocks)});
        first_row += from.rows;
    }
    return weight;
}

std::size_t HostWeight::bytes() const {
    std::size_t sum = 0;
    for (const Segment& segment : segments_) sum += segment.blocks.size();
    return sum;
}

void HostWeight::unpack_row(int row, std::span<float> out) const {
    for (const Segment& segment : segments_) {
        if (row >= segment.first_row + segment.rows) continue;
        const auto blocks = segment.row(row - segment.first_row);
        return quant::traits(segment.type).unpack(blocks.data(), out.size(), out.data());
    }
    HEARTH_CHECK(false);
}

void multiply(const HostWeight& w, View x, View out) {
    std::vector<RoundedBlock> rounded;
    if (std::ranges::any_of(w.segments(), is_quantized)) {
        const std::size_t blocks = static_cast<std::size_t>(x.cols) / kRoundedBlock;
        rounded.resize(static_cast<std::size_t>(x.rows) * blocks);
        for (int i = 0; i < x.rows; ++i)
            round_activations(x.row(i), x.cols, &rounded[static_cast<std::size_t>(i) * blocks]);
    }
    for (const Segment& segment : w.segments()) {
        if (is_quantized(segment)) {
            multiply_blocks(segment, rounded, x, out);
        } else {
            multiply_floats(segment, x, out);
        }
    }
}

}  // namespace hearth::reference
