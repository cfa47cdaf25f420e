// The reference itself, against straightforward computations in double precision.
#include "engine/reference/reference_ops.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "engine/ops/math.h"
#include "engine/tensor/half.h"
#include "tests/engine/ops/material.h"
#include "tests/engine/ops/talk.h"

namespace hearth::test {
namespace {

double as_double(float x) { return static_cast<double>(x); }

// What is left of a row of activations after rounding: scale times integer, exactly.
std::vector<double> rounded_row(const Matrix& x, int row) {
    std::vector<RoundedBlock> blocks(static_cast<std::size_t>(x.cols / kRoundedBlock));
    round_activations(x.row(row), x.cols, blocks.data());
    std::vector<double> result;
    for (const RoundedBlock& block : blocks)
        for (const std::int8_t q : block.q) result.push_back(as_double(block.scale) * q);
    return result;
}

Matrix multiplied(Ops& ops, const FileWeight& weight, const Matrix& x) {
    const Weight w = put(ops, weight);
    const Buffer in = put(ops, x);
    const Buffer out = empty(ops, x.rows, w.rows);
    ops.matmul(w, in.view, out.view);
    return get(ops, out.view);
}

class ReferenceMatmul : public testing::TestWithParam<DType> {};

TEST_P(ReferenceMatmul, IsTheProductOfUnpackedWeightsAndRoundedActivations) {
    const auto ops = make_reference_ops();
    const bool plain = dtype_info(GetParam()).block_elements == 1;
    const FileWeight weight = random_weight(GetParam(), 20, 768, 101);
    const Matrix w = unpacked(weight);
    const Matrix x = activation_rows(14, 768, 102);
    const Matrix actual = multiplied(*ops, weight, x);
    for (int i = 0; i < x.rows; ++i) {
        std::vector<double> a;
        for (int c = 0; c < x.cols; ++c) a.push_back(as_double(x.at(i, c)));
        if (!plain) a = rounded_row(x, i);
        for (int r = 0; r < w.rows; ++r) {
            double sum = 0.0;
            double size = 0.0;
            for (int c = 0; c < w.cols; ++c) {
                const double term = as_double(w.at(r, c)) * a[static_cast<std::size_t>(c)];
                sum += term;
                size += std::fabs(term);
            }
            // Each of at most 768 roundings is 2^-24 of a partial sum; with minima the two halves
            // of a weight can be larger than their sum. Subnormal products round at 2^-150.
            const double bound = size * 768 * 0x1p-24 + 1e-42;
            ASSERT_NEAR(as_double(actual.at(i, r)), sum, bound * (plain ? 1.0 : 4.0))
                << i << ", " << r;
        }
    }
}

TEST_P(ReferenceMatmul, IsNearTheProductWithUnroundedActivations) {
    const auto ops = make_reference_ops();
    const FileWeight weight = random_weight(GetParam(), 20, 512, 103);
    const Matrix w = unpacked(weight);
    const Matrix x = random_matrix(5, 512, 104);
    const Matrix actual = multiplied(*ops, weight, x);
    for (int i = 0; i < x.rows; ++i) {
        for (int r = 0; r < w.rows; ++r) {
            double sum = 0.0;
            double bound = 0.0;
            for (int c = 0; c < w.cols; ++c) {
                sum += as_double(w.at(r, c)) * as_double(x.at(i, c));
                const float* block = x.row(i) + c / 32 * 32;
                const float amax =
                    std::fabs(*std::max_element(block, block + 32, [](float a, float b) {
                        return std::fabs(a) < std::fabs(b);
                    }));
                bound += std::fabs(as_double(w.at(r, c))) * as_double(amax) / 127.0 * 0.501;
            }
            ASSERT_NEAR(as_double(actual.at(i, r)), sum, bound) << i << ", " << r;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceMatmul, testing::ValuesIn(all_types()),
                         [](const testing::TestParamInfo<DType>& of) { return name_of(of.param); });

TEST(ReferenceProduct, FollowsTheWrittenOrderToTheBit) {
    // One block of Q4_1 and one row, by the formula of engine/quant/README.md: d 0.5, m 0.25, q = 0
    // .. 15 twice.
    FileWeight weight;
    weight.cols = 32;
    weight.types = {DType::q4_1};
    weight.rows = {1};
    std::vector<std::byte> block = {std::byte{0x00}, std::byte{0x38}, std::byte{0x00},
                                    std::byte{0x34}};
    for (unsigned j = 0; j < 16; ++j) block.push_back(static_cast<std::byte>(j | (j << 4)));
    weight.blocks = {block};
    Matrix x(1, 32);
    for (int c = 0; c < 32; ++c) x.at(0, c) = static_cast<float>(c) / 3.0F;
    RoundedBlock a;
    round_block(x.row(0), a);
    int dot = 0;
    for (int c = 0; c < 32; ++c) dot += c % 16 * a.q[static_cast<std::size_t>(c)];
    const float first = std::fma(0.5F * a.scale, static_cast<float>(dot), 0.0F);
    const float expected =
        std::fma(0.25F, a.scale * static_cast<float>(a.sums[0] + a.sums[1]), first);
    const auto ops = make_reference_ops();
    EXPECT_EQ(multiplied(*ops, weight, x).at(0, 0), expected);
}

TEST(ReferenceEmbed, CopiesUnpackedRows) {
    const auto ops = make_reference_ops();
    for (const DType type : all_types()) {
        const FileWeight weight = random_weight(type, 9, 256, 105);
        const Matrix table = unpacked(weight);
        Step step = plain_step(3);
        step.tokens = {8, 0, 5};
        const Weight w = put(*ops, weight);
        const Buffer out = empty(*ops, 3, 256);
        ops->begin_step(step.input());
        ops->embed(w, out.view);
        ASSERT_TRUE(ops->finish());
        const Matrix actual = get(*ops, out.view);
        EXPECT_TRUE(same_bits(actual.slice(0, 1), table.slice(8, 1))) << to_string(type);
        EXPECT_TRUE(same_bits(actual.slice(1, 1), table.slice(0, 1))) << to_string(type);
        EXPECT_TRUE(same_bits(actual.slice(2, 1), table.slice(5, 1))) << to_string(type);
    }
}

TEST(ReferenceRmsNorm, MakesRowsOfMeanSquareOne) {
    const auto ops = make_reference_ops();
    for (const int cols : {1, 15, 16, 17, 576, 2049}) {
        const Matrix x = random_matrix(4, cols, 106, 3.0F);
        const Matrix norm = random_matrix(1, cols, 107);
        const Buffer in = put(*ops, x);
        const Buffer weights = put(*ops, norm);
        const Buffer out = empty(*ops, 4, cols);
        ops->rms_norm(in.view, weights.view, 1e-5F, out.view);
        const Matrix actual = get(*ops, out.view);
        for (int i = 0; i < 4; ++i) {
            double squares = 0.0;
            for (int c = 0; c < cols; ++c) squares += as_double(x.at(i, c)) * as_double(x.at(i, c));
            const double scale = 1.0 / std::sqrt(squares / cols + 1e-5);
            for (int c = 0; c < cols; ++c) {
                const double expected = as_double(x.at(i, c)) * scale * as_double(norm.at(0, c));
                ASSERT_NEAR(as_double(actual.at(i, c)), expected, std::fabs(expected) * 2e-6)
                    << cols;
            }
        }
    }
}

TEST(ReferenceRope, TurnsPairsByPositionTimesFrequency) {
    const auto ops = make_reference_ops();
    for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::halves}) {
        RopeConfig config;
        config.dims = 32;
        config.pairing = pairing;
        const auto table = RopeTable::make(config, 100);
        ASSERT_TRUE(table);
        const Matrix x = random_matrix(9, 2 * 48, 108);
        const Step step({{.context = 0, .rows = 4, .pages = {0}},
                         {.context = 77, .rows = 5, .pages = {1, 2, 3, 4, 5, 6}}});
        const Buffer in = put(*ops, x);
        ops->begin_step(step.input());
        ops->rope(*table, 2, 48, in.view);
        ASSERT_TRUE(ops->finish());
        const Matrix actual = get(*ops, in.view);
        for (int i = 0; i < 9; ++i) {
            const int position = i < 4 ? i : 77 + i - 4;
            for (int h = 0; h < 2; ++h) {
                for (int p = 0; p < 16; ++p) {
                    const bool interleaved = pairing == RopePairing::interleaved;
                    const int a = h * 48 + (interleaved ? 2 * p : p);
                    const int b = h * 48 + (interleaved ? 2 * p + 1 : p + 16);
                    const double angle = position * std::pow(10000.0, -2.0 * p / 32);
                    const double xa = as_double(x.at(i, a));
                    const double xb = as_double(x.at(i, b));
                    // The angle, at most 81, is rounded to f32 twice.
                    const double bound = 1e-5 * (std::fabs(xa) + std::fabs(xb));
                    ASSERT_NEAR(as_double(actual.at(i, a)),
                                xa * std::cos(angle) - xb * std::sin(angle), bound);
                    ASSERT_NEAR(as_double(actual.at(i, b)),
                                xa * std::sin(angle) + xb * std::cos(angle), bound);
                }
                for (int c = 32; c < 48; ++c)
                    ASSERT_EQ(actual.at(i, h * 48 + c), x.at(i, h * 48 + c));
            }
        }
    }
}

double stored(DType type, float x) {
    return as_double(type == DType::f32 ? x : f32_from_f16(f16_from_f32(x)));
}

// Softmax attention of one row, all positions at once.
void expect_attention(const AttentionShape& shape, const Talk& talk, int position,
                      const Matrix& actual) {
    const int group = shape.heads / shape.kv_heads;
    for (int h = 0; h < shape.heads; ++h) {
        const int kv = h / group * shape.head_dim;
        std::vector<double> weights;
        double largest = -1e300;
        for (int i = 0; i <= position; ++i) {
            double score = 0.0;
            for (int c = 0; c < shape.head_dim; ++c)
                score += as_double(talk.q.at(position, h * shape.head_dim + c)) *
                         stored(shape.key_type, talk.k.at(i, kv + c));
            weights.push_back(score / std::sqrt(static_cast<double>(shape.head_dim)));
            largest = std::max(largest, weights.back());
        }
        double total = 0.0;
        for (double& weight : weights) {
            weight = std::exp(weight - largest);
            total += weight;
        }
        for (int c = 0; c < shape.head_dim; ++c) {
            double expected = 0.0;
            for (int i = 0; i <= position; ++i)
                expected += weights[static_cast<std::size_t>(i)] / total *
                            stored(shape.value_type, talk.v.at(i, kv + c));
            ASSERT_NEAR(as_double(actual.at(position, h * shape.head_dim + c)), expected, 2e-6)
                << "position " << position << ", head " << h;
        }
    }
}

TEST(ReferenceAttend, IsSoftmaxAttentionOverStoredKeysAndValues) {
    const auto ops = make_reference_ops();
    for (const DType type : {DType::f32, DType::f16}) {
        const AttentionShape shape{
            .heads = 4, .kv_heads = 2, .head_dim = 32, .key_type = type, .value_type = type};
        const std::vector<Talk> talks = {random_talk(shape, 600, 109), random_talk(shape, 3, 110)};
        const auto outputs = play(*ops, shape, talks, {{.rows = {600, 3}}});
        for (const int position : {0, 1, 15, 16, 17, 254, 255, 256, 257, 511, 512, 599})
            expect_attention(shape, talks[0], position, outputs[0]);
        expect_attention(shape, talks[1], 2, outputs[1]);
    }
}

TEST(ReferenceAttend, LooksOnlyAtTheOneVisiblePosition) {
    const auto ops = make_reference_ops();
    const AttentionShape shape{.heads = 1,
                               .kv_heads = 1,
                               .head_dim = 16,
                               .key_type = DType::f32,
                               .value_type = DType::f32};
    const std::vector<Talk> talks = {random_talk(shape, 1, 111)};
    EXPECT_TRUE(same_bits(play(*ops, shape, talks, {{.rows = {1}}})[0], talks[0].v));
}

TEST(ReferenceSiluMul, MultipliesSiluOfTheFirstHalfWithTheSecond) {
    const auto ops = make_reference_ops();
    const Matrix x = random_matrix(3, 2 * 50, 112, 4.0F);
    const Buffer in = put(*ops, x);
    const Buffer out = empty(*ops, 3, 50);
    ops->silu_mul(in.view, out.view);
    const Matrix actual = get(*ops, out.view);
    for (int i = 0; i < 3; ++i) {
        for (int c = 0; c < 50; ++c) {
            const double gate = as_double(x.at(i, c));
            const double expected = gate / (1.0 + std::exp(-gate)) * as_double(x.at(i, 50 + c));
            ASSERT_NEAR(as_double(actual.at(i, c)), expected, std::fabs(expected) * 5e-7);
        }
    }
}

}  // namespace
}  // namespace hearth::test
