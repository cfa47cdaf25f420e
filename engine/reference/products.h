// Weights as the file has them, and products with them (formulas: engine/quant/README.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/ops/args.h"

namespace hearth::reference {

struct Segment {
    DType type;
    int first_row;
    int rows;
    std::size_t row_bytes;
    AlignedBuffer blocks;

    std::span<const std::byte> row(int i) const {
        return blocks.bytes().subspan(static_cast<std::size_t>(i) * row_bytes, row_bytes);
    }
};

class HostWeight : public DeviceMemory {
public:
    // Copies the blocks. no_memory when they do not fit.
    static Result<std::unique_ptr<HostWeight>> make(std::span<const RowSegment> segments, int cols);

    std::span<const Segment> segments() const { return segments_; }
    std::size_t bytes() const;
    // Row `row` as floats; `out` has `cols` elements.
    void unpack_row(int row, std::span<float> out) const;

private:
    std::vector<Segment> segments_;
};

// out [rows, w.rows] = x [rows, w.cols] times the transpose of w.
void multiply(const HostWeight& w, View x, View out);

}  // namespace hearth::reference
