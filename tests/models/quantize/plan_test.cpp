// Which tensors change, and into what when rows do not fit.
#include "models/quantize/plan.h"

#include <gtest/gtest.h>

namespace hearth::quantize {
namespace {

gguf::TensorInfo tensor(const char* name, std::vector<std::uint64_t> dims) {
    gguf::TensorInfo info = {.name = name,
                             .type = DType::f32,
                             .n_dims = static_cast<int>(dims.size()),
                             .dims = {1, 1, 1, 1},
                             .offset = 0,
                             .bytes = 0};
    std::copy(dims.begin(), dims.end(), info.dims.begin());
    return info;
}

TEST(QuantizePlan, MatricesChangeAndTheRestStays) {
    EXPECT_TRUE(is_converted(tensor("token_embd.weight", {256, 10})));
    EXPECT_TRUE(is_converted(tensor("output.weight", {256, 10})));
    EXPECT_TRUE(is_converted(tensor("blk.0.attn_q.weight", {256, 256})));
    EXPECT_TRUE(is_converted(tensor("blk.0.ffn_up_exps.weight", {256, 256, 4})));
    EXPECT_FALSE(is_converted(tensor("blk.0.attn_norm.weight", {256})));
    EXPECT_FALSE(is_converted(tensor("blk.0.attn_q.bias", {256})));
    EXPECT_FALSE(is_converted(tensor("position_table", {256, 10})));
    EXPECT_FALSE(is_converted(tensor("blk.0.ffn_gate_inp.weight", {256, 8})));
}

TEST(QuantizePlan, RowsThatDoNotFitTakeTheNextTypeWithSmallBlocks) {
    EXPECT_EQ(fitting_type(DType::q4_k, 512), DType::q4_k);
    EXPECT_EQ(fitting_type(DType::q4_k, 576), DType::q5_0);
    EXPECT_EQ(fitting_type(DType::q5_k, 576), DType::q5_1);
    EXPECT_EQ(fitting_type(DType::q6_k, 576), DType::q8_0);
    EXPECT_EQ(fitting_type(DType::q4_0, 576), DType::q4_0);
    EXPECT_EQ(fitting_type(DType::q4_0, 48), DType::f16);
    EXPECT_EQ(fitting_type(DType::q6_k, 48), DType::f16);
    EXPECT_EQ(fitting_type(DType::f32, 7), DType::f32);
}

TEST(QuantizePlan, FallbacksAreListed) {
    const gguf::TensorInfo tensors[] = {tensor("a.weight", {512, 2}), tensor("b.weight", {576, 2}),
                                        tensor("norm.weight", {576}), tensor("c.weight", {48, 2})};
    const Plan plan = make_plan(tensors, DType::q4_k);
    ASSERT_EQ(plan.tensors.size(), 4U);
    EXPECT_EQ(plan.tensors[0].type, DType::q4_k);
    EXPECT_EQ(plan.tensors[1].type, DType::q5_0);
    EXPECT_EQ(plan.tensors[2].type, DType::f32);
    EXPECT_EQ(plan.tensors[3].type, DType::f16);
    EXPECT_EQ(plan.tensors[2].dims, std::vector<std::uint64_t>{576});
    EXPECT_EQ(plan.tensors[1].dims, (std::vector<std::uint64_t>{576, 2}));
    ASSERT_EQ(plan.fallbacks.size(), 2U);
    EXPECT_EQ(plan.fallbacks[0].tensor, "b.weight");
    EXPECT_EQ(plan.fallbacks[0].wanted, DType::q4_k);
    EXPECT_EQ(plan.fallbacks[0].used, DType::q5_0);
    EXPECT_EQ(plan.fallbacks[1].used, DType::f16);
}

}  // namespace
}  // namespace hearth::quantize
