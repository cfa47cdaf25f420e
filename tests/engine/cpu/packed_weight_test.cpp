// Repacked weights hold the file's numbers: rows come back bit for bit.
#include "engine/cpu/packed_weight.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/quant/traits.h"

namespace hearth::cpu {
namespace {

constexpr DType kTypes[] = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0,
                            DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                            DType::q4_k, DType::q5_k, DType::q6_k};

// Blocks of random bits, so that every code, scale and sign occurs; the f16 scales are made finite.
std::vector<std::byte> random_blocks(DType type, int rows, int cols) {
    std::mt19937 random(static_cast<unsigned>(rows + cols));
    std::vector<float> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    std::normal_distribution<float> normal;
    for (float& x : values) x = normal(random);
    const auto bytes = row_bytes(type, values.size()).value().value_or(0);
    std::vector<std::byte> blocks(static_cast<std::size_t>(bytes));
    quant::traits(type).pack(values.data(), values.size(), blocks.data());
    return blocks;
}

std::vector<float> row_of(DType type, const std::vector<std::byte>& blocks, int row, int cols) {
    std::vector<float> out(static_cast<std::size_t>(cols));
    const auto size = static_cast<std::size_t>(row_bytes(type, out.size()).value().value_or(0));
    quant::traits(type).unpack(blocks.data() + size * static_cast<std::size_t>(row), out.size(),
                               out.data());
    return out;
}

void expect_row(const PackedWeight& weight, int row, const std::vector<float>& expected) {
    std::vector<float> actual(expected.size());
    weight.unpack_row(row, actual.data());
    EXPECT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(float)), 0)
        << "row " << row;
}

TEST(PackedWeight, GivesBackRowsOfEveryType) {
    ThreadPool pool(2);
    for (const DType type : kTypes)
        for (const int rows : {1, 16, 39}) {
            SCOPED_TRACE(std::string(to_string(type)) + ", rows " + std::to_string(rows));
            const int cols = 512;
            const std::vector<std::byte> blocks = random_blocks(type, rows, cols);
            const RowSegment segment = {type, rows, blocks};
            auto weight = PackedWeight::pack(std::span(&segment, 1), cols, pool);
            ASSERT_TRUE(weight);
            for (int row = 0; row < rows; ++row)
                expect_row(**weight, row, row_of(type, blocks, row, cols));
        }
}

TEST(PackedWeight, FindsRowsAcrossSegmentsOfSeveralTypes) {
    ThreadPool pool(1);
    const int cols = 256;
    const auto q4 = random_blocks(DType::q4_k, 20, cols);
    const auto q6 = random_blocks(DType::q6_k, 5, cols);
    const auto plain = random_blocks(DType::f16, 17, cols);
    const RowSegment segments[] = {
        {DType::q4_k, 20, q4}, {DType::q6_k, 5, q6}, {DType::f16, 17, plain}};
    auto weight = PackedWeight::pack(segments, cols, pool);
    ASSERT_TRUE(weight);
    expect_row(**weight, 19, row_of(DType::q4_k, q4, 19, cols));
    expect_row(**weight, 20, row_of(DType::q6_k, q6, 0, cols));
    expect_row(**weight, 24, row_of(DType::q6_k, q6, 4, cols));
    expect_row(**weight, 25, row_of(DType::f16, plain, 0, cols));
    expect_row(**weight, 41, row_of(DType::f16, plain, 16, cols));
}

TEST(PackedWeight, TakesNoMoreMemoryThanTheFilePlusFourPercent) {
    ThreadPool pool(1);
    const int cols = 1024;
    const int rows = 64;
    for (const DType type : kTypes) {
        const std::vector<std::byte> blocks = random_blocks(type, rows, cols);
        const RowSegment segment = {type, rows, blocks};
        auto weight = PackedWeight::pack(std::span(&segment, 1), cols, pool);
        ASSERT_TRUE(weight);
        EXPECT_LE(static_cast<double>((*weight)->bytes()),
                  1.04 * static_cast<double>(blocks.size()))
            << to_string(type);
    }
}

}  // namespace
}  // namespace hearth::cpu
