#include "tests/engine/ops/material.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/quant/traits.h"
#include "engine/tensor/half.h"

namespace hearth::test {
namespace {

constexpr std::array kAllTypes = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0,
                                  DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0,
                                  DType::q4_k, DType::q5_k, DType::q6_k};
constexpr float kUnset = -12345.5F;

// Around 0 with variance 1 (the sum of two uniform numbers), from mt19937 alone: distributions of
// the standard library differ between machines.
float centred(std::mt19937& random) {
    const double first = static_cast<double>(random()) * 0x1p-32 - 0.5;
    const double second = static_cast<double>(random()) * 0x1p-32 - 0.5;
    return static_cast<float>((first + second) * std::sqrt(6.0));
}

// Where the f16 scales of a block lie, in bytes.
std::vector<std::size_t> scale_offsets(DType type) {
    switch (type) {
        case DType::q4_0:
        case DType::q5_0:
        case DType::q8_0:
            return {0};
        case DType::q4_1:
        case DType::q5_1:
        case DType::q4_k:
        case DType::q5_k:
            return {0, 2};
        case DType::q6_k:
            return {208};
        default:
            return {};
    }
}

std::vector<std::byte> wild_row(DType type, std::size_t bytes, std::mt19937& random) {
    std::vector<std::byte> row(bytes);
    for (std::byte& b : row) b = static_cast<std::byte>(random() & 0xffU);
    const auto block = static_cast<std::size_t>(dtype_info(type).block_bytes);
    for (std::size_t at = 0; at < bytes; at += block) {
        for (const std::size_t offset : scale_offsets(type)) {
            const std::uint16_t half = f16_from_f32(centred(random) * 0.01F);
            std::memcpy(&row[at + offset], &half, sizeof(half));
        }
    }
    return row;
}

bool is_plain(DType type) { return scale_offsets(type).empty(); }

void append_row(const SegmentShape& shape, int cols, bool wild, std::mt19937& random,
                std::vector<std::byte>& out) {
    const std::size_t bytes = *row_bytes(shape.type, static_cast<std::uint64_t>(cols)).value();
    std::vector<std::byte> row(bytes);
    if (wild && !is_plain(shape.type)) {
        row = wild_row(shape.type, bytes, random);
    } else {
        std::vector<float> floats(static_cast<std::size_t>(cols));
        for (float& f : floats) f = centred(random) * 0.05F;
        quant::traits(shape.type).pack(floats.data(), floats.size(), row.data());
    }
    out.insert(out.end(), row.begin(), row.end());
}

// The largest of a block, or the float nearest to a tie after scaling: there x * fl(1 / da) and x /
// da round apart.
float near_tie(int col, std::mt19937& random) {
    const float largest = 1e-12F * (1.0F + static_cast<float>(col / 32) * 0.37F);
    if (col % 32 == 9) return largest;
    const auto k = static_cast<float>(static_cast<int>(random() % 252) - 126);
    return (k + 0.5F) * (largest / 127.0F);
}

// Rows whose rounding has something to get wrong.
float edge(int row, int col, std::mt19937& random) {
    const float x = centred(random);
    switch (row) {
        case 0:
            return col % 32 == 5 ? 127.0F
                                 : static_cast<float>(static_cast<int>(random() % 40) - 20) * 0.5F;
        case 1:
            return 0.0F;
        case 2:
            return std::copysign(0x1.fffffep-101F, x);  // just below the limit
        case 3:
            return col % 3 == 0 ? 0x1p-100F : x * 0x1p-103F;  // at the limit
        case 4:
            return (col / 32) % 2 == 0 ? std::copysign(0x1p-149F, x) : x;  // a subnormal block
        case 5:
            return x * 1e18F;
        case 6:
            return col % 32 == 31 ? -3.0F : x * 1e-4F;
        default:
            return near_tie(col, random);
    }
}

}  // namespace

Matrix Matrix::slice(int first, int n) const {
    Matrix part(n, cols);
    std::copy_n(row(first), part.values.size(), part.values.begin());
    return part;
}

Matrix random_matrix(int rows, int cols, unsigned seed, float size) {
    std::mt19937 random(seed);
    Matrix matrix(rows, cols);
    for (float& x : matrix.values) x = centred(random) * size;
    return matrix;
}

Matrix activation_rows(int rows, int cols, unsigned seed) {
    Matrix matrix = random_matrix(rows, cols, seed);
    std::mt19937 random(seed + 1);
    for (int i = 0; i < std::min(rows, kEdgeRows); ++i)
        for (int c = 0; c < cols; ++c) matrix.at(i, c) = edge(i, c, random);
    return matrix;
}

std::vector<RowSegment> FileWeight::segments() const {
    std::vector<RowSegment> result;
    for (std::size_t i = 0; i < types.size(); ++i)
        result.push_back({.type = types[i], .rows = rows[i], .blocks = blocks[i]});
    return result;
}

FileWeight random_weight(std::span<const SegmentShape> segments, int cols, unsigned seed) {
    std::mt19937 random(seed);
    FileWeight weight;
    weight.cols = cols;
    for (const SegmentShape& shape : segments) {
        std::vector<std::byte> blocks;
        for (int r = 0; r < shape.rows; ++r) append_row(shape, cols, r % 2 == 1, random, blocks);
        weight.types.push_back(shape.type);
        weight.rows.push_back(shape.rows);
        weight.blocks.push_back(std::move(blocks));
    }
    return weight;
}

Matrix unpacked(const FileWeight& weight) {
    int rows = 0;
    for (const int n : weight.rows) rows += n;
    Matrix all(rows, weight.cols);
    int first = 0;
    for (const RowSegment& segment : weight.segments()) {
        const std::size_t elements =
            static_cast<std::size_t>(segment.rows) * static_cast<std::size_t>(weight.cols);
        quant::traits(segment.type).unpack(segment.blocks.data(), elements, all.row(first));
        first += segment.rows;
    }
    return all;
}

std::span<const DType> all_types() { return kAllTypes; }

std::string name_of(DType type) {
    std::string name(to_string(type));
    return name;
}

Step::Step(std::vector<SequenceSpec> specs) : specs_(std::move(specs)) {
    int first = 0;
    for (const SequenceSpec& spec : specs_) {
        sequences_.push_back(
            {.first_row = first, .rows = spec.rows, .context = spec.context, .pages = spec.pages});
        first += spec.rows;
    }
    tokens.assign(static_cast<std::size_t>(first), 0);
}

Step plain_step(int rows) {
    SequenceSpec spec{.context = 0, .rows = rows, .pages = {}};
    for (int page = 0; page * kPagePositions < rows; ++page) spec.pages.push_back(page);
    std::vector<SequenceSpec> specs;
    specs.push_back(std::move(spec));
    return Step(std::move(specs));
}

Buffer put(Ops& ops, const Matrix& matrix) {
    auto buffer = ops.allocate(matrix.rows, matrix.cols);
    HEARTH_CHECK(buffer.has_value());
    ops.write(matrix.values, buffer->view);
    return *std::move(buffer);
}

Strided put_strided(Ops& ops, const Matrix& matrix) {
    constexpr int kBefore = 5;
    constexpr int kAfter = 6;
    auto buffer = ops.allocate(matrix.rows, kBefore + matrix.cols + kAfter);
    HEARTH_CHECK(buffer.has_value());
    const View view = buffer->view.columns(kBefore, matrix.cols);
    ops.write(matrix.values, view);
    return {.buffer = *std::move(buffer), .view = view};
}

Buffer empty(Ops& ops, int rows, int cols) {
    Matrix matrix(rows, cols);
    std::ranges::fill(matrix.values, kUnset);
    return put(ops, matrix);
}

Matrix get(Ops& ops, View view) {
    Matrix matrix(view.rows, view.cols);
    ops.read(view, matrix.values);
    return matrix;
}

Weight put(Ops& ops, const FileWeight& weight) {
    auto uploaded = ops.upload(weight.segments(), weight.cols);
    HEARTH_CHECK(uploaded.has_value());
    return *std::move(uploaded);
}

testing::AssertionResult same_bits(const Matrix& actual, const Matrix& expected) {
    if (actual.rows != expected.rows || actual.cols != expected.cols)
        return testing::AssertionFailure() << "shapes differ";
    for (int i = 0; i < actual.rows; ++i) {
        for (int c = 0; c < actual.cols; ++c) {
            const float a = actual.at(i, c);
            const float b = expected.at(i, c);
            if (std::isnan(a) && std::isnan(b)) continue;
            if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) continue;
            return testing::AssertionFailure()
                   << "row " << i << ", column " << c << " of [" << actual.rows << ", "
                   << actual.cols << "]: " << std::hexfloat << a << " instead of " << b;
        }
    }
    return testing::AssertionSuccess();
}

}  // namespace hearth::test
