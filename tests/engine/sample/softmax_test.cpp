// The loops over a vocabulary against the plain definition, bit for bit, at odd sizes.
#include "engine/sample/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/ops/math.h"
#include "engine/sample/random.h"

namespace hearth::sample {
namespace {

std::vector<float> some_logits(int count) {
    std::vector<float> values;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i)
        values.push_back(static_cast<float>(random_unit({1, 0, i}) * 60.0 - 30.0));
    return values;
}

TEST(Softmax, ExpBlocksEqualThePlainLoopBitForBit) {
    for (const int count : {1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 49152}) {
        SCOPED_TRACE(count);
        std::vector<float> values = some_logits(count);
        if (count > 20) values[20] = -std::numeric_limits<float>::infinity();
        std::vector<float> out(values.size());
        std::vector<float> sums(static_cast<std::size_t>((count + 255) / 256));
        exp_blocks(values, 30.0F, out, sums);
        for (std::size_t block = 0; block < sums.size(); ++block) {
            SumPartials partials{};
            for (std::size_t i = block * 256; i < std::min(values.size(), block * 256 + 256); ++i) {
                const float expected = exp_f32(values[i] - 30.0F);
                ASSERT_EQ(std::memcmp(&expected, &out[i], sizeof(float)), 0) << i;
                partials[i % kSumPartials] += expected;
            }
            EXPECT_EQ(sums[block], fold_sum16(partials));
        }
    }
}

TEST(Softmax, ExtentFindsTheMaximumAndWhatIsNotFinite) {
    for (const int count : {1, 16, 17, 100}) {
        SCOPED_TRACE(count);
        std::vector<float> values = some_logits(count);
        values.back() = 31.0F;
        EXPECT_EQ(extent(values).max, 31.0F);
        EXPECT_TRUE(extent(values).is_finite);
        for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()}) {
            std::vector<float> broken = values;
            broken[broken.size() / 2] = bad;
            EXPECT_FALSE(extent(broken).is_finite);
        }
    }
}

}  // namespace
}  // namespace hearth::sample
