// Bit for bit against the Python package `gguf`: unpacking of every type, packing of those that it
// can pack.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "engine/quant/traits.h"
#include "tests/engine/quant/goldens.h"

namespace hearth::quant {
namespace {

TEST(QuantGoldens, CoverEveryBlockType) {
    std::set<DType> unpacked;
    for (const UnpackGolden& golden : read_unpack_goldens()) unpacked.insert(golden.type);
    const std::set<DType> expected = {DType::f16,  DType::bf16, DType::q4_0, DType::q4_1,
                                      DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k,
                                      DType::q5_k, DType::q6_k};
    EXPECT_EQ(unpacked, expected);
}

TEST(QuantGoldens, UnpackEqualsThePythonPackageBitForBit) {
    for (const UnpackGolden& golden : read_unpack_goldens()) {
        SCOPED_TRACE(name_of(golden.type));
        std::vector<float> ours(golden.floats.size());
        traits(golden.type).unpack(golden.blocks.data(), ours.size(), ours.data());
        EXPECT_EQ(std::memcmp(ours.data(), golden.floats.data(), ours.size() * sizeof(float)), 0);
    }
}

TEST(QuantGoldens, PackEqualsThePythonPackageBitForBit) {
    const PackGoldens goldens = read_pack_goldens();
    EXPECT_EQ(goldens.outputs.size(), 7U);
    for (const PackGolden& golden : goldens.outputs) {
        SCOPED_TRACE(name_of(golden.type));
        std::vector<std::byte> ours(golden.blocks.size());
        traits(golden.type).pack(goldens.input.data(), goldens.input.size(), ours.data());
        const auto block = static_cast<std::size_t>(dtype_info(golden.type).block_bytes);
        for (std::size_t at = 0; at < ours.size(); at += block)
            EXPECT_EQ(std::memcmp(ours.data() + at, golden.blocks.data() + at, block), 0)
                << "block " << at / block;
    }
}

TEST(QuantGoldens, IntegersTimesScalePlusMinGiveTheUnpackedFloats) {
    for (const UnpackGolden& golden : read_unpack_goldens()) {
        const Traits& type = traits(golden.type);
        if (type.unpack_integers == nullptr) continue;
        SCOPED_TRACE(name_of(golden.type));
        const std::size_t elements = golden.floats.size();
        const auto sub_block = static_cast<std::size_t>(type.sub_block);
        std::vector<std::int8_t> q(elements);
        std::vector<float> scale(elements / sub_block);
        std::vector<float> min(elements / sub_block, 0.0F);
        type.unpack_integers(golden.blocks.data(), elements,
                             {.q = q.data(), .scale = scale.data(), .min = min.data()});
        for (std::size_t i = 0; i < elements; ++i) {
            const float product = scale[i / sub_block] * static_cast<float>(q[i]);
            ASSERT_EQ(product + min[i / sub_block], golden.floats[i]) << "element " << i;
            if (!type.has_min) {
                ASSERT_EQ(min[i / sub_block], 0.0F) << "min was written";
            }
        }
    }
}

}  // namespace
}  // namespace hearth::quant
