// Ids, names and sizes of the types.
#include "engine/tensor/dtype.h"

#include <gtest/gtest.h>

#include <limits>

namespace hearth {
namespace {

constexpr DType kAll[] = {DType::f32,  DType::f16,  DType::q4_0, DType::q4_1,
                          DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k,
                          DType::q5_k, DType::q6_k, DType::bf16};

TEST(DType, IdsAndNamesComeBack) {
    for (const DType type : kAll) {
        EXPECT_EQ(dtype_from_id(static_cast<std::uint32_t>(type)), type);
        EXPECT_EQ(dtype_from_name(to_string(type)), type);
    }
    EXPECT_EQ(dtype_from_name("q4_k"), DType::q4_k);
    EXPECT_EQ(dtype_from_name("bf16"), DType::bf16);
}

TEST(DType, OtherIdsAndNamesAreNone) {
    for (const std::uint32_t id : {4U, 5U, 9U, 10U, 15U, 31U, 256U, 268U, ~0U})
        EXPECT_FALSE(dtype_from_id(id).has_value()) << id;
    for (const char* name : {"", "Q4", "Q4_KK", "q4-k", "Q2_K"})
        EXPECT_FALSE(dtype_from_name(name).has_value()) << name;
}

TEST(DType, RowBytesCountWholeBlocks) {
    EXPECT_EQ(row_bytes(DType::f32, 5).value(), 20U);
    EXPECT_EQ(row_bytes(DType::bf16, 5).value(), 10U);
    EXPECT_EQ(row_bytes(DType::q4_0, 64).value(), 36U);
    EXPECT_EQ(row_bytes(DType::q6_k, 512).value(), 420U);
    EXPECT_FALSE(row_bytes(DType::f32, std::numeric_limits<std::uint64_t>::max()).value());
}

}  // namespace
}  // namespace hearth
