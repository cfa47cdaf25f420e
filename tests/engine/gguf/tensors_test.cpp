// T004 and T005: shapes, types and places of tensors.
#include <gtest/gtest.h>

#include "tests/engine/gguf/file_spec.h"

namespace hearth::gguf {
namespace {

TEST(T004, NumberOfDimensionsIsOneToFour) {
    for (const std::uint32_t n : {0U, 5U, 1U << 31, ~0U}) {
        FileSpec spec = sound();
        spec.tensors[0].n_dims = n;
        expect_error(read(spec), ErrorCode::model_corrupt, "'norm' has " + std::to_string(n));
    }
    FileSpec spec = sound();
    spec.tensors[1].dims = {32, 1, 2, 1};
    const auto file = read(spec);
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->find("weight")->n_dims, 4);
    EXPECT_EQ(file->find("weight")->rows(), 2U);
}

TEST(T004, ZeroAndNegativeDimensionsAreCorrupt) {
    FileSpec spec = sound();
    spec.tensors[0].dims = {0};
    expect_error(read(spec), ErrorCode::model_corrupt, "'norm' has a dimension of 0");
    spec.tensors[0].dims = {static_cast<std::uint64_t>(-32)};
    expect_error(read(spec), ErrorCode::model_corrupt, "'norm' has more elements");
}

TEST(T004, RowsOfPartBlocksAreCorrupt) {
    struct Case {
        std::uint32_t type;
        std::uint64_t cols;
        const char* named;
    };
    const Case cases[] = {{2, 33, "32 of Q4_0"},
                          {8, 16, "32 of Q8_0"},
                          {12, 128, "256 of Q4_K"},
                          {13, 255, "256 of Q5_K"},
                          {14, 257, "256 of Q6_K"}};
    for (const Case& one : cases) {
        FileSpec spec = sound();
        spec.tensors[1].type = one.type;
        spec.tensors[1].dims = {one.cols, 2};
        spec.data_bytes = 4096;
        expect_error(read(spec), ErrorCode::model_corrupt, one.named);
    }
}

TEST(T004, TypesThatWeDoNotReadAreNamed) {
    struct Case {
        std::uint32_t type;
        const char* named;
    };
    const Case cases[] = {{10, "'weight' has type 10 (Q2_K), which is not supported"},
                          {39, "'weight' has type 39 (MXFP4), which is not supported"},
                          {4, "'weight' has type 4 (Q4_2), which was removed"},
                          {5, "'weight' has type 5 (Q4_3), which was removed"},
                          {31, "'weight' has type 31 (Q4_0_4_4), which was removed"},
                          {38, "'weight' has type 38 (IQ4_NL_8_8), which was removed"},
                          {200, "'weight' has type 200, which is unknown"},
                          {~0U, "'weight' has type 4294967295, which is unknown"}};
    for (const Case& one : cases) {
        FileSpec spec = sound();
        spec.tensors[1].type = one.type;
        expect_error(read(spec), ErrorCode::unsupported_model, one.named);
    }
}

TEST(T005, UnalignedOffsetsAreCorrupt) {
    for (const std::uint64_t offset : {129ULL, 136ULL, 144ULL}) {
        FileSpec spec = sound();
        spec.data_bytes = 4096;
        spec.tensors[1].offset = offset;
        expect_error(read(spec), ErrorCode::model_corrupt, "not a multiple of the alignment 32");
    }
}

TEST(T005, OverlappingTensorsAreCorrupt) {
    for (const std::uint64_t offset : {0ULL, 32ULL, 96ULL}) {
        FileSpec spec = sound();
        spec.tensors[1].offset = offset;
        expect_error(read(spec), ErrorCode::model_corrupt, "'weight' overlaps the tensor before");
    }
}

TEST(T005, DescendingOffsetsAreCorrupt) {
    FileSpec spec = sound();
    spec.data_bytes = 4096;
    spec.tensors[0].offset = 1024;
    expect_error(read(spec), ErrorCode::model_corrupt, "'weight' overlaps the tensor before");
}

TEST(T005, TensorsPastTheEndAreCorrupt) {
    FileSpec spec = sound();
    spec.tensors[1].offset = 160;  // its last bytes are missing
    expect_error(read(spec), ErrorCode::model_corrupt, "'weight' reaches past the end");
    spec.tensors[1].offset = 1ULL << 40;
    expect_error(read(spec), ErrorCode::model_corrupt, "'weight' reaches past the end");
}

TEST(T005, DuplicateNamesAreCorrupt) {
    FileSpec spec = sound();
    spec.tensors[0].name = "weight";
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'weight' is there twice");
}

TEST(T005, NamesWithoutLettersAreCorrupt) {
    FileSpec spec = sound();
    spec.tensors[1].name = "";
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 1 has an empty name");
    spec.tensors[1].name = std::string("a\0b", 3);
    expect_error(read(spec), ErrorCode::model_corrupt, "'a\\x00b'");
    spec.tensors[1].name = "a\nb";
    expect_error(read(spec), ErrorCode::model_corrupt, "'a\\x0ab'");
}

TEST(T005, GapsBetweenTensorsAreAllowed) {
    FileSpec spec = sound();
    spec.tensors[1].offset = 512;
    spec.data_bytes = 1024;
    EXPECT_TRUE(read(spec).has_value());
}

}  // namespace
}  // namespace hearth::gguf
