// What the table promises of each type besides its numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/quant/blocks.h"
#include "engine/quant/search.h"
#include "engine/quant/traits.h"
#include "tests/engine/quant/goldens.h"

namespace hearth::quant {
namespace {

struct Expected {
    DType type;
    int sub_block;
    bool has_min;
    int lowest;
    int highest;
};

constexpr Expected kTypes[] = {
    {DType::q4_0, 32, false, -8, 7},     {DType::q4_1, 32, true, 0, 15},
    {DType::q5_0, 32, false, -16, 15},   {DType::q5_1, 32, true, 0, 31},
    {DType::q8_0, 32, false, -128, 127}, {DType::q4_k, 32, true, 0, 15},
    {DType::q5_k, 32, true, 0, 31},      {DType::q6_k, 16, false, -32, 31},
};

TEST(QuantTraits, IntegersStayInTheRangeOfTheirType) {
    for (const Expected& expected : kTypes) {
        SCOPED_TRACE(name_of(expected.type));
        const Traits& type = traits(expected.type);
        EXPECT_EQ(type.type, expected.type);
        EXPECT_EQ(type.sub_block, expected.sub_block);
        EXPECT_EQ(type.has_min, expected.has_min);

        const DTypeInfo& info = dtype_info(expected.type);
        int lowest = 1000;
        int highest = -1000;
        for (const int fill : {0x00, 0xff, 0x0f, 0xf0, 0x80, 0x7f}) {
            const std::vector<std::byte> block(static_cast<std::size_t>(info.block_bytes),
                                               std::byte(fill));
            std::vector<std::int8_t> q(static_cast<std::size_t>(info.block_elements));
            std::vector<float> scale(16);
            std::vector<float> min(16);
            type.unpack_integers(block.data(), q.size(),
                                 {.q = q.data(), .scale = scale.data(), .min = min.data()});
            lowest = std::min<int>(lowest, *std::ranges::min_element(q));
            highest = std::max<int>(highest, *std::ranges::max_element(q));
        }
        EXPECT_EQ(lowest, expected.lowest);
        EXPECT_EQ(highest, expected.highest);
    }
}

TEST(QuantTraits, PlainTypesHaveNoIntegerForm) {
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        EXPECT_EQ(traits(type).unpack_integers, nullptr);
        EXPECT_EQ(traits(type).sub_block, 0);
        EXPECT_FALSE(traits(type).has_min);
    }
}

TEST(QuantTraits, BlocksMayLieAtOddAddresses) {
    for (const UnpackGolden& golden : read_unpack_goldens()) {
        SCOPED_TRACE(name_of(golden.type));
        std::vector<std::byte> shifted(golden.blocks.size() + 1);
        std::ranges::copy(golden.blocks, shifted.begin() + 1);
        std::vector<float> floats(golden.floats.size());
        traits(golden.type).unpack(shifted.data() + 1, floats.size(), floats.data());
        EXPECT_EQ(floats, golden.floats);
        std::vector<std::byte> packed(golden.blocks.size() + 1);
        traits(golden.type).pack(floats.data(), floats.size(), packed.data() + 1);
        std::vector<std::byte> aligned(golden.blocks.size());
        traits(golden.type).pack(floats.data(), floats.size(), aligned.data());
        EXPECT_TRUE(std::equal(aligned.begin(), aligned.end(), packed.begin() + 1));
    }
}

TEST(QuantTraits, NoElementsTouchNoMemory) {
    for (const Expected& expected : kTypes) {
        traits(expected.type).unpack(nullptr, 0, nullptr);
        traits(expected.type).pack(nullptr, 0, nullptr);
    }
    traits(DType::f32).unpack(nullptr, 0, nullptr);
    traits(DType::f32).pack(nullptr, 0, nullptr);
}

TEST(KScales, PackAndUnpackAreInverse) {
    for (unsigned seed = 0; seed < 64; ++seed) {
        KScales in;
        for (unsigned i = 0; i < 8; ++i) {
            in.scale[i] = static_cast<std::uint8_t>((seed * 7 + i * 13) % 64);
            in.min[i] = static_cast<std::uint8_t>((seed * 11 + i * 29 + 5) % 64);
        }
        std::uint8_t packed[12];
        in.pack(packed);
        const KScales out = KScales::unpack(packed);
        EXPECT_TRUE(std::equal(in.scale, in.scale + 8, out.scale));
        EXPECT_TRUE(std::equal(in.min, in.min + 8, out.min));
    }
}

TEST(Nearest, HoldsItsRangeForAnyFloat) {
    EXPECT_EQ(nearest(2.5F, -32, 31), 3);
    EXPECT_EQ(nearest(-2.5F, -32, 31), -2);
    EXPECT_EQ(nearest(-2.6F, -32, 31), -3);
    EXPECT_EQ(nearest(1e30F, -32, 31), 31);
    EXPECT_EQ(nearest(-1e30F, -32, 31), -32);
    EXPECT_EQ(nearest(0.0F / 0.0F, 0, 15), 0);
}

}  // namespace
}  // namespace hearth::quant
