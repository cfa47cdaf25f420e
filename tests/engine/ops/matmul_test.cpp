// Products of every weight type: equal to the reference, whatever the shape, batch width and number
// of threads.
#include <limits>
#include <tuple>
#include <vector>

#include "tests/engine/ops/conformance.h"

namespace hearth::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Matrix multiplied(Ops& ops, const FileWeight& weight, const Matrix& x) {
    const Step step = plain_step(x.rows);
    ops.begin_step(step.input());
    const Weight w = put(ops, weight);
    const Buffer in = put(ops, x);
    const Buffer out = empty(ops, x.rows, w.rows);
    ops.matmul(w, in.view, out.view);
    EXPECT_TRUE(ops.finish());
    return get(ops, out.view);
}

std::vector<int> columns_of(DType type) {
    if (dtype_info(type).block_elements == 256) return {256, 512, 1536};
    if (dtype_info(type).block_elements == 32) return {32, 64, 96, 288, 576, 1536};
    return {1, 7, 16, 31, 33, 100, 576};
}

template <typename Base>
class PerType : public testing::TestWithParam<std::tuple<Backend, DType>> {
protected:
    void SetUp() override {
        MadeOps made = std::get<0>(GetParam()).make(1);
        if (!made.ops) GTEST_SKIP() << made.skip_reason;
        ops = std::move(made.ops);
    }
    std::unique_ptr<Ops> with_threads(int threads) const {
        return std::get<0>(GetParam()).make(threads).ops;
    }
    DType type() const { return std::get<1>(GetParam()); }

    std::unique_ptr<Ops> ops;
    std::unique_ptr<Ops> reference = make_reference_ops();
};
struct OfFast {};
struct OfAll {};
using MatmulConformance = PerType<OfFast>;
using MatmulInvariance = PerType<OfAll>;

TEST_P(MatmulConformance, EqualsTheReferenceForOddShapesAndAllBatchWidths) {
    for (const int cols : columns_of(type())) {
        const Matrix x = activation_rows(33, cols, 11);
        for (const int rows : {1, 7, 8, 15, 16, 17, 40}) {
            const FileWeight weight =
                random_weight(type(), rows, cols, static_cast<unsigned>(rows));
            const Matrix expected = multiplied(*reference, weight, x);
            for (const int batch : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33}) {
                // Ends with the last row, so that small batches also see plain rows.
                const int first = batch % 2 == 0 ? 33 - batch : 0;
                ASSERT_TRUE(same_bits(multiplied(*ops, weight, x.slice(first, batch)),
                                      expected.slice(first, batch)))
                    << rows << " rows, " << cols << " columns, batch " << batch;
            }
        }
    }
}

TEST_P(MatmulConformance, EqualsTheReferenceForAPromptOf512) {
    const int cols = 256;
    const FileWeight weight = random_weight(type(), 37, cols, 3);
    const Matrix x = activation_rows(512, cols, 12);
    const Matrix expected = multiplied(*reference, weight, x);
    for (const int threads : kThreadCounts)
        EXPECT_TRUE(same_bits(multiplied(*with_threads(threads), weight, x), expected)) << threads;
}

TEST_P(MatmulConformance, EqualsTheReferenceForAnyNumberOfThreads) {
    const int cols = 512;
    for (const int rows : {1, 16, 31, 33, 500}) {
        const FileWeight weight = random_weight(type(), rows, cols, 4);
        for (const int batch : {1, 3, 20}) {
            const Matrix x = random_matrix(batch, cols, 13);
            const Matrix expected = multiplied(*reference, weight, x);
            for (const int threads : kThreadCounts)
                ASSERT_TRUE(same_bits(multiplied(*with_threads(threads), weight, x), expected))
                    << threads << " threads, " << rows << " rows, batch " << batch;
        }
    }
}

TEST_P(MatmulConformance, ReadsAndWritesColumnsOfWiderBuffers) {
    const FileWeight weight = random_weight(type(), 19, 256, 5);
    const Matrix x = random_matrix(6, 256, 14);
    const Matrix expected = multiplied(*reference, weight, x);
    const Weight w = put(*ops, weight);
    const Strided in = put_strided(*ops, x);
    const Strided out = put_strided(*ops, Matrix(6, 19));
    const Step step = plain_step(6);
    ops->begin_step(step.input());
    ops->matmul(w, in.view, out.view);
    ASSERT_TRUE(ops->finish());
    EXPECT_TRUE(same_bits(get(*ops, out.view), expected));
    // The columns beside the output are as before.
    const Matrix all = get(*ops, out.buffer.view);
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(all.at(i, 4), 0.0F);
        EXPECT_EQ(all.at(i, 24), 0.0F);
    }
}

TEST_P(MatmulInvariance, GivesARowTheSameBitsAloneAndInABatch) {
    const FileWeight weight = random_weight(type(), 21, 512, 6);
    const Matrix x = activation_rows(24, 512, 15);
    const Matrix together = multiplied(*ops, weight, x);
    for (int i = 0; i < x.rows; ++i)
        ASSERT_TRUE(same_bits(multiplied(*ops, weight, x.slice(i, 1)), together.slice(i, 1))) << i;
}

TEST_P(MatmulInvariance, KeepsNonFiniteInputsToTheirOwnRows) {
    const FileWeight weight = random_weight(type(), 18, 512, 7);
    const Matrix clean = random_matrix(9, 512, 16);
    Matrix x = clean;
    x.at(1, 0) = kNan;
    x.at(3, 511) = kInfinity;
    x.at(4, 100) = -kInfinity;
    const Matrix expected = multiplied(*ops, weight, clean);
    const Matrix actual = multiplied(*ops, weight, x);
    for (int i = 0; i < x.rows; ++i) {
        if (i != 1 && i != 3 && i != 4) {
            EXPECT_TRUE(same_bits(actual.slice(i, 1), expected.slice(i, 1))) << i;
            continue;
        }
        for (int c = 0; c < actual.cols; ++c)
            EXPECT_FALSE(std::isfinite(actual.at(i, c))) << i << ", " << c;
    }
}

std::string per_type_name(const testing::TestParamInfo<std::tuple<Backend, DType>>& info) {
    return test_name(std::get<0>(info.param)) + "_" + name_of(std::get<1>(info.param));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MatmulConformance);
INSTANTIATE_TEST_SUITE_P(All, MatmulConformance,
                         testing::Combine(testing::ValuesIn(fast_backends()),
                                          testing::ValuesIn(all_types())),
                         per_type_name);
INSTANTIATE_TEST_SUITE_P(All, MatmulInvariance,
                         testing::Combine(testing::ValuesIn(all_backends()),
                                          testing::ValuesIn(all_types())),
                         per_type_name);

// ---- segments of several types

FileWeight mixed_weight(int cols) {
    const std::vector<SegmentShape> shapes = {
        {DType::q4_k, 48}, {DType::q6_k, 17}, {DType::f32, 3},  {DType::q8_0, 16},
        {DType::q4_1, 5},  {DType::bf16, 20}, {DType::q5_k, 1}, {DType::q4_0, 33},
        {DType::q5_0, 16}, {DType::f16, 2},   {DType::q5_1, 18}};
    return random_weight(shapes, cols, 21);
}

TEST_P(Conformance, MultipliesByRowsOfSeveralTypes) {
    const FileWeight weight = mixed_weight(512);
    const Matrix x = activation_rows(17, 512, 22);
    const Matrix expected = multiplied(*reference, weight, x);
    for (const int threads : kThreadCounts) {
        const auto threaded = with_threads(threads);
        for (const int batch : {1, 2, 4, 9, 17})
            ASSERT_TRUE(same_bits(multiplied(*threaded, weight, x.slice(0, batch)),
                                  expected.slice(0, batch)))
                << threads << " threads, batch " << batch;
    }
}

TEST_P(Invariance, TakesSegmentsAsIfTheyStoodAlone) {
    const FileWeight weight = mixed_weight(256);
    const Matrix x = random_matrix(3, 256, 23);
    const Matrix together = multiplied(*ops, weight, x);
    int first = 0;
    for (std::size_t s = 0; s < weight.types.size(); ++s) {
        FileWeight part;
        part.cols = weight.cols;
        part.types = {weight.types[s]};
        part.rows = {weight.rows[s]};
        part.blocks = {weight.blocks[s]};
        const Matrix alone = multiplied(*ops, part, x);
        for (int i = 0; i < x.rows; ++i)
            for (int c = 0; c < alone.cols; ++c)
                ASSERT_EQ(alone.at(i, c), together.at(i, first + c)) << s;
        first += weight.rows[s];
    }
}

TEST_P(Invariance, SaysHowManyBytesAWeightTakes) {
    const FileWeight weight = random_weight(DType::q4_k, 64, 512, 24);
    const Weight w = put(*ops, weight);
    EXPECT_EQ(w.rows, 64);
    EXPECT_EQ(w.cols, 512);
    // Repacked scales may take more than the file's 6 bits each; never twice as much.
    EXPECT_GE(w.bytes, weight.blocks[0].size());
    EXPECT_LE(w.bytes, 2 * weight.blocks[0].size());
}

}  // namespace
}  // namespace hearth::test
