// Inputs for tests of ops, and the way to a backend and back: matrices, weights of every type,
// steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/ops/ops.h"

namespace hearth::test {

// Row-major floats on the host.
struct Matrix {
    Matrix() = default;
    Matrix(int row_count, int col_count)
        : rows(row_count),
          cols(col_count),
          values(static_cast<std::size_t>(row_count) * static_cast<std::size_t>(col_count)) {}

    float* row(int i) {
        return &values[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols)];
    }
    const float* row(int i) const {
        return &values[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols)];
    }
    float& at(int i, int c) { return row(i)[c]; }
    float at(int i, int c) const { return row(i)[c]; }
    Matrix slice(int first, int n) const;

    int rows = 0;
    int cols = 0;
    std::vector<float> values;
};

// Numbers around 0 with variance size^2; the same for the same seed on every machine.
Matrix random_matrix(int rows, int cols, unsigned seed, float size = 1.0F);

// Random rows, the first eight of them with the edge cases of rounding activations: ties, zeros,
// blocks below and at 2^-100, subnormals, large numbers.
Matrix activation_rows(int rows, int cols, unsigned seed);
constexpr int kEdgeRows = 8;

// A weight as a file has it.
struct FileWeight {
    std::vector<RowSegment> segments() const;

    int cols = 0;
    std::vector<DType> types;
    std::vector<int> rows;
    std::vector<std::vector<std::byte>> blocks;
};
struct SegmentShape {
    DType type;
    int rows;
};
// Every second row is packed from random floats; the others are random bits with finite scales, so
// that all integers occur.
FileWeight random_weight(std::span<const SegmentShape> segments, int cols, unsigned seed);
inline FileWeight random_weight(DType type, int rows, int cols, unsigned seed) {
    const SegmentShape shape{type, rows};
    return random_weight(std::span(&shape, 1), cols, seed);
}
// All rows as floats.
Matrix unpacked(const FileWeight& weight);

std::span<const DType> all_types();
std::string name_of(DType type);  // for names of tests

// One step, owning what StepInput borrows.
struct SequenceSpec {
    int context;
    int rows;
    std::vector<std::int32_t> pages;
};
class Step {
public:
    explicit Step(std::vector<SequenceSpec> specs);

    StepInput input() const { return {tokens, sequences_, sampled}; }
    int rows() const { return static_cast<int>(tokens.size()); }

    std::vector<std::int32_t> tokens;  // zeros at first
    std::vector<std::int32_t> sampled;

private:
    std::vector<SequenceSpec> specs_;
    std::vector<SequenceRows> sequences_;
};
// One sequence of `rows` rows from position 0, for ops that do not look at positions.
Step plain_step(int rows);

// ---- on a backend
Buffer put(Ops& ops, const Matrix& matrix);
// The matrix in the middle of a wider buffer, so that stride > cols and rows begin anywhere.
struct Strided {
    Buffer buffer;
    View view;
};
Strided put_strided(Ops& ops, const Matrix& matrix);
Buffer empty(Ops& ops, int rows, int cols);  // filled with a number that no test expects
Matrix get(Ops& ops, View view);
Weight put(Ops& ops, const FileWeight& weight);

// Equal bits, or both NaN: which NaN is not part of the contract. Names the first difference.
testing::AssertionResult same_bits(const Matrix& actual, const Matrix& expected);

}  // namespace hearth::test
