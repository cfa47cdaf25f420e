// embed, rms_norm, add, rope, silu_mul, gather_rows and the fused ops: equal to the reference and
// to their defaults.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/engine/ops/conformance.h"

namespace hearth::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kEps = 1e-5F;
constexpr int kRows[] = {1, 2, 3, 5, 16, 33};
constexpr int kCols[] = {1, 7, 15, 16, 17, 31, 48, 80, 96, 576, 1536, 2049};

// Rows of several sizes, a zero row and a row of subnormals among them.
Matrix varied_rows(int rows, int cols, unsigned seed) {
    Matrix x = random_matrix(rows, cols, seed);
    for (int i = 0; i < rows; ++i) {
        for (int c = 0; c < cols; ++c) {
            if (i % 6 == 1) x.at(i, c) *= 1e4F;
            if (i % 6 == 2) x.at(i, c) *= 0.0F;
            if (i % 6 == 3) x.at(i, c) *= 1e-42F;
            if (i % 6 == 4) x.at(i, c) *= 40.0F;
        }
    }
    return x;
}

// ---- each op as a function from host to host

Matrix embedded(Ops& ops, const FileWeight& table, const std::vector<std::int32_t>& tokens) {
    const Weight w = put(ops, table);
    const auto rows = static_cast<int>(tokens.size());
    Step step = plain_step(rows);
    step.tokens = tokens;
    const Buffer out = empty(ops, rows, table.cols);
    ops.begin_step(step.input());
    ops.embed(w, out.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, out.view);
}

Matrix normed(Ops& ops, const Matrix& x, const Matrix& norm) {
    const Step step = plain_step(x.rows);
    const Buffer in = put(ops, x);
    const Buffer weights = put(ops, norm);
    const Buffer out = empty(ops, x.rows, x.cols);
    ops.begin_step(step.input());
    ops.rms_norm(in.view, weights.view, kEps, out.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, out.view);
}

Matrix added(Ops& ops, const Matrix& x, const Matrix& out) {
    const Step step = plain_step(x.rows);
    const Buffer in = put(ops, x);
    const Buffer sum = put(ops, out);
    ops.begin_step(step.input());
    ops.add(in.view, sum.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, sum.view);
}

Matrix silu_multiplied(Ops& ops, const Matrix& gate_up) {
    const Step step = plain_step(gate_up.rows);
    const Buffer in = put(ops, gate_up);
    const Buffer out = empty(ops, gate_up.rows, gate_up.cols / 2);
    ops.begin_step(step.input());
    ops.silu_mul(in.view, out.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, out.view);
}

struct RopeCase {
    RopeConfig config;
    int heads;
    int head_dim;
};

// Three sequences at positions 0.., 250.. and 900.
Step rope_step() {
    const auto pages = [](int n) {
        std::vector<std::int32_t> list;
        for (int i = 0; i < n; ++i) list.push_back(i);
        return list;
    };
    return Step({{.context = 0, .rows = 5, .pages = pages(1)},
                 {.context = 250, .rows = 11, .pages = pages(17)},
                 {.context = 900, .rows = 1, .pages = pages(57)}});
}

Matrix rotated(Ops& ops, const RopeCase& c, const Matrix& x) {
    const Step step = rope_step();
    const auto table = RopeTable::make(c.config, 1000);
    EXPECT_TRUE(table);
    const Strided in = put_strided(ops, x);
    ops.begin_step(step.input());
    ops.rope(*table, c.heads, c.head_dim, in.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, in.view);
}

// ---- against the reference

TEST_P(Conformance, EmbedsFromEveryType) {
    for (const DType type : all_types()) {
        for (const int rows : {1, 16, 35}) {
            const FileWeight table = random_weight(type, rows, 256, 31);
            const std::vector<std::int32_t> tokens = {0, rows - 1, rows / 2, 0, rows / 3};
            EXPECT_TRUE(
                same_bits(embedded(*ops, table, tokens), embedded(*reference, table, tokens)))
                << to_string(type) << ", " << rows << " rows";
        }
    }
}

TEST_P(Conformance, EmbedsFromSegmentsOfSeveralTypes) {
    const std::vector<SegmentShape> shapes = {
        {DType::q6_k, 3}, {DType::f16, 20}, {DType::q4_0, 17}};
    const FileWeight table = random_weight(shapes, 512, 32);
    const std::vector<std::int32_t> tokens = {39, 0, 2, 3, 22, 23, 30};
    EXPECT_TRUE(same_bits(embedded(*ops, table, tokens), embedded(*reference, table, tokens)));
}

TEST_P(Conformance, NormalisesRowsOfAnyLength) {
    for (const int cols : kCols) {
        const Matrix norm = random_matrix(1, cols, 33);
        for (const int rows : kRows) {
            const Matrix x = varied_rows(rows, cols, 34);
            const Matrix expected = normed(*reference, x, norm);
            for (const int threads : kThreadCounts)
                ASSERT_TRUE(same_bits(normed(*with_threads(threads), x, norm), expected))
                    << rows << " rows, " << cols << " columns, " << threads << " threads";
        }
    }
}

TEST_P(Conformance, NormalisesInPlaceAndInColumnsOfAWiderBuffer) {
    const Matrix x = varied_rows(7, 100, 35);
    const Matrix norm = random_matrix(1, 100, 36);
    const Step step = plain_step(7);
    const Strided in = put_strided(*ops, x);
    const Buffer weights = put(*ops, norm);
    ops->begin_step(step.input());
    ops->rms_norm(in.view, weights.view, kEps, in.view);
    ASSERT_TRUE(ops->finish());
    EXPECT_TRUE(same_bits(get(*ops, in.view), normed(*reference, x, norm)));
}

TEST_P(Conformance, Adds) {
    for (const int cols : kCols) {
        for (const int rows : kRows) {
            const Matrix x = varied_rows(rows, cols, 37);
            const Matrix out = varied_rows(rows, cols, 38);
            ASSERT_TRUE(same_bits(added(*ops, x, out), added(*reference, x, out)))
                << rows << ", " << cols;
        }
    }
}

TEST_P(Conformance, GatesWithSilu) {
    for (const int cols : kCols) {
        for (const int rows : kRows) {
            const Matrix x = varied_rows(rows, 2 * cols, 39);
            const Matrix expected = silu_multiplied(*reference, x);
            for (const int threads : kThreadCounts)
                ASSERT_TRUE(same_bits(silu_multiplied(*with_threads(threads), x), expected))
                    << rows << ", " << cols;
        }
    }
}

TEST_P(Conformance, GatesWithSiluAtTheEndsOfTheRange) {
    const std::vector<float> values = {
        0.0F,   -0.0F,  1.0F,      -1.0F,   87.0F,     -87.0F,     88.72F,  -88.72F,
        88.8F,  -88.8F, 103.9F,    -103.9F, 104.0F,    -104.0F,    1e30F,   -1e30F,
        1e-30F, -1e-3F, 0x1p-149F, kNan,    kInfinity, -kInfinity, -103.0F, 0.34657359F};
    const auto n = static_cast<int>(values.size());
    Matrix x(1, 2 * n);
    for (int i = 0; i < n; ++i) {
        x.at(0, i) = values[static_cast<std::size_t>(i)];
        x.at(0, n + i) = 3.0F;
    }
    EXPECT_TRUE(same_bits(silu_multiplied(*ops, x), silu_multiplied(*reference, x)));
}

TEST_P(Conformance, GatesWithSiluEverywhereInTheRangeOfExp) {
    Matrix x(256, 2 * 4096);
    for (int i = 0; i < 256; ++i) {
        for (int c = 0; c < 4096; ++c) {
            x.at(i, c) = -105.0F + 194.0F * static_cast<float>(i * 4096 + c) * 0x1p-20F;
            x.at(i, 4096 + c) = 1.0F;
        }
    }
    EXPECT_TRUE(same_bits(silu_multiplied(*ops, x), silu_multiplied(*reference, x)));
}

TEST_P(Conformance, RotatesBothPairingsAndPartsOfHeads) {
    for (const int head_dim : {64, 80, 96, 128}) {
        for (const int dims : {head_dim, head_dim / 2, 2, 10}) {
            for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::halves}) {
                RopeCase c{.config = {}, .heads = 3, .head_dim = head_dim};
                c.config.dims = dims;
                c.config.pairing = pairing;
                const Matrix x = random_matrix(rope_step().rows(), 3 * head_dim, 40);
                const Matrix expected = rotated(*reference, c, x);
                for (const int threads : kThreadCounts)
                    ASSERT_TRUE(same_bits(rotated(*with_threads(threads), c, x), expected))
                        << dims << " of " << head_dim << ", pairing " << static_cast<int>(pairing);
            }
        }
    }
}

TEST_P(Conformance, GathersSampledRows) {
    for (const int cols : kCols) {
        const Matrix x = random_matrix(9, cols, 41);
        Step step = plain_step(9);
        step.sampled = {0, 3, 4, 8};
        const Buffer in = put(*ops, x);
        const Buffer out = empty(*ops, 4, cols);
        ops->begin_step(step.input());
        ops->gather_rows(in.view, out.view);
        ASSERT_TRUE(ops->finish());
        const Matrix actual = get(*ops, out.view);
        EXPECT_TRUE(same_bits(actual.slice(0, 1), x.slice(0, 1)));
        EXPECT_TRUE(same_bits(actual.slice(1, 1), x.slice(3, 1)));
        EXPECT_TRUE(same_bits(actual.slice(2, 1), x.slice(4, 1)));
        EXPECT_TRUE(same_bits(actual.slice(3, 1), x.slice(8, 1)));
    }
}

// ---- fused ops against their meaning, step by step on the reference

struct FusedInput {
    Matrix x;
    Matrix norm;
    FileWeight weight;
    Matrix out;  // what out holds before
};

FusedInput fused_input(DType type, int rows, int batch) {
    FusedInput input;
    input.x = activation_rows(batch, 512, 51);
    if (batch > 2) input.x.at(2, 7) = kNan;
    input.norm = random_matrix(1, 512, 52);
    input.weight = random_weight(type, rows, 512, 53);
    input.out = random_matrix(batch, rows, 54);
    return input;
}

template <typename F>
void for_fused_inputs(F f) {
    for (const DType type : all_types())
        for (const int rows : {16, 34})
            for (const int batch : {1, 3, 10}) f(fused_input(type, rows, batch), to_string(type));
}

TEST_P(Conformance, MatmulAddIsMatmulThenAdd) {
    for_fused_inputs([&](const FusedInput& input, std::string_view type) {
        const auto run = [&](Ops& on, bool fused) {
            const Step step = plain_step(input.x.rows);
            const Weight w = put(on, input.weight);
            const Buffer x = put(on, input.x);
            const Buffer out = put(on, input.out);
            const Buffer product = empty(on, input.x.rows, w.rows);
            on.begin_step(step.input());
            if (fused) {
                on.matmul_add(w, x.view, out.view);
            } else {
                on.matmul(w, x.view, product.view);
                on.add(product.view, out.view);
            }
            EXPECT_TRUE(on.finish());
            return get(on, out.view);
        };
        const Matrix expected = run(*reference, false);
        for (const int threads : kThreadCounts)
            EXPECT_TRUE(same_bits(run(*with_threads(threads), true), expected)) << type;
    });
}

TEST_P(Conformance, NormMatmulIsRmsNormThenMatmul) {
    for_fused_inputs([&](const FusedInput& input, std::string_view type) {
        const auto run = [&](Ops& on, bool fused) {
            const Step step = plain_step(input.x.rows);
            const Weight w = put(on, input.weight);
            const Buffer x = put(on, input.x);
            const Buffer norm = put(on, input.norm);
            const Buffer between = empty(on, input.x.rows, input.x.cols);
            const Buffer out = empty(on, input.x.rows, w.rows);
            on.begin_step(step.input());
            if (fused) {
                on.norm_matmul(x.view, norm.view, kEps, w, out.view);
            } else {
                on.rms_norm(x.view, norm.view, kEps, between.view);
                on.matmul(w, between.view, out.view);
            }
            EXPECT_TRUE(on.finish());
            return get(on, out.view);
        };
        const Matrix expected = run(*reference, false);
        for (const int threads : kThreadCounts)
            EXPECT_TRUE(same_bits(run(*with_threads(threads), true), expected)) << type;
    });
}

TEST_P(Conformance, GatedIsNormMatmulThenSiluMul) {
    for_fused_inputs([&](const FusedInput& input, std::string_view type) {
        const auto run = [&](Ops& on, bool fused) {
            const Step step = plain_step(input.x.rows);
            const Weight w = put(on, input.weight);
            const Buffer x = put(on, input.x);
            const Buffer norm = put(on, input.norm);
            const Buffer between = empty(on, input.x.rows, input.x.cols);
            const Buffer products = empty(on, input.x.rows, w.rows);
            const Buffer out = empty(on, input.x.rows, w.rows / 2);
            on.begin_step(step.input());
            if (fused) {
                on.gated(x.view, norm.view, kEps, w, out.view);
            } else {
                on.rms_norm(x.view, norm.view, kEps, between.view);
                on.matmul(w, between.view, products.view);
                on.silu_mul(products.view, out.view);
            }
            EXPECT_TRUE(on.finish());
            return get(on, out.view);
        };
        const Matrix expected = run(*reference, false);
        for (const int threads : kThreadCounts)
            EXPECT_TRUE(same_bits(run(*with_threads(threads), true), expected)) << type;
    });
}

TEST_P(Conformance, GatedTakesGateAndUpOfDifferentTypes) {
    const std::vector<SegmentShape> shapes = {{DType::q4_k, 40}, {DType::q6_k, 40}};
    FusedInput input = fused_input(DType::q4_k, 80, 5);
    input.weight = random_weight(shapes, 512, 55);
    const auto run = [&](Ops& on) {
        const Step step = plain_step(input.x.rows);
        const Weight w = put(on, input.weight);
        const Buffer x = put(on, input.x);
        const Buffer norm = put(on, input.norm);
        const Buffer out = empty(on, input.x.rows, 40);
        on.begin_step(step.input());
        on.gated(x.view, norm.view, kEps, w, out.view);
        EXPECT_TRUE(on.finish());
        return get(on, out.view);
    };
    const Matrix expected = run(*reference);
    for (const int threads : kThreadCounts)
        EXPECT_TRUE(same_bits(run(*with_threads(threads)), expected)) << threads;
}

// ---- invariance, also of the reference

TEST_P(Invariance, KeepsNonFiniteInputsToTheirRowsInSimpleOps) {
    const Matrix clean = random_matrix(5, 96, 61);
    Matrix x = clean;
    x.at(1, 3) = kNan;
    x.at(3, 95) = kInfinity;
    const Matrix norm = random_matrix(1, 96, 62);
    const auto expect_contained = [](const Matrix& actual, const Matrix& expected) {
        for (const int i : {0, 2, 4})
            EXPECT_TRUE(same_bits(actual.slice(i, 1), expected.slice(i, 1))) << i;
        for (const int i : {1, 3}) {
            bool finite = true;
            for (int c = 0; c < actual.cols; ++c) finite = finite && std::isfinite(actual.at(i, c));
            EXPECT_FALSE(finite) << i;
        }
    };
    expect_contained(normed(*ops, x, norm), normed(*ops, clean, norm));
    expect_contained(added(*ops, x, clean), added(*ops, clean, clean));
    expect_contained(silu_multiplied(*ops, x), silu_multiplied(*ops, clean));
}

TEST_P(Invariance, GivesARowTheSameBitsAloneInSimpleOps) {
    const Matrix x = varied_rows(12, 130, 63);
    const Matrix norm = random_matrix(1, 130, 64);
    const Matrix all_normed = normed(*ops, x, norm);
    const Matrix all_gated = silu_multiplied(*ops, x);
    for (int i = 0; i < x.rows; ++i) {
        EXPECT_TRUE(same_bits(normed(*ops, x.slice(i, 1), norm), all_normed.slice(i, 1))) << i;
        EXPECT_TRUE(same_bits(silu_multiplied(*ops, x.slice(i, 1)), all_gated.slice(i, 1))) << i;
    }
}

TEST_P(Invariance, WritesAndReadsColumnsOfAWiderBuffer) {
    const Matrix x = random_matrix(4, 9, 65);
    const Strided in = put_strided(*ops, x);
    EXPECT_EQ(in.view.stride, 20);
    EXPECT_TRUE(same_bits(get(*ops, in.view), x));
}

TEST_P(Invariance, DescribesItself) { EXPECT_FALSE(ops->description().empty()); }

std::string backend_name(const testing::TestParamInfo<Backend>& info) {
    return test_name(info.param);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);
INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(fast_backends()), backend_name);
INSTANTIATE_TEST_SUITE_P(All, Invariance, testing::ValuesIn(all_backends()), backend_name);

}  // namespace
}  // namespace hearth::test
