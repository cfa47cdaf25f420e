// store_kv, attend and rope_store: equal to the reference, and the same however a prompt is cut and
// whoever is beside.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/engine/ops/conformance.h"
#include "tests/engine/ops/talk.h"

namespace hearth::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<AttentionShape> all_shapes() {
    std::vector<AttentionShape> shapes;
    for (const int head_dim : {64, 128, 96, 80})
        for (const auto& [heads, kv_heads] : {std::pair{2, 2}, {3, 1}, {8, 1}, {6, 2}})
            for (const auto& [key, value] : {std::pair{DType::f32, DType::f32},
                                             {DType::f16, DType::f16},
                                             {DType::f16, DType::f32}})
                shapes.push_back({heads, kv_heads, head_dim, key, value});
    return shapes;
}

std::string describe(const AttentionShape& shape) {
    return std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + " heads of " +
           std::to_string(shape.head_dim) + ", " + name_of(shape.key_type) + "/" +
           name_of(shape.value_type);
}

void expect_same(const std::vector<Matrix>& actual, const std::vector<Matrix>& expected,
                 const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_TRUE(same_bits(actual[i], expected[i])) << "sequence " << i << ": " << what;
}

constexpr AttentionShape kUsual{
    .heads = 6, .kv_heads = 2, .head_dim = 64, .key_type = DType::f16, .value_type = DType::f16};

TEST_P(Conformance, DecodesManySequencesInOneStep) {
    for (const AttentionShape& shape : all_shapes()) {
        std::vector<int> lengths = {1, 16, 17, 257};
        if (shape.head_dim == 64) lengths = {1, 15, 16, 17, 255, 256, 257, 600};
        std::vector<Talk> talks;
        TalkStep fill{.rows = {}, .attends = false};
        for (const int length : lengths) {
            talks.push_back(random_talk(shape, length, static_cast<unsigned>(length)));
            fill.rows.push_back(length - 1);
        }
        const std::vector<TalkStep> steps = {fill, {.rows = std::vector<int>(lengths.size(), 1)}};
        const auto expected = play(*reference, shape, talks, steps);
        for (const int threads : kThreadCounts)
            expect_same(play(*with_threads(threads), shape, talks, steps), expected,
                        describe(shape) + ", threads " + std::to_string(threads));
    }
}

TEST_P(Conformance, DecodesOneSequenceOfEachLength) {
    for (const int length : {1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 511, 513, 600}) {
        for (const DType type : {DType::f32, DType::f16}) {
            const AttentionShape shape{
                .heads = 4, .kv_heads = 2, .head_dim = 64, .key_type = type, .value_type = type};
            const std::vector<Talk> talks = {random_talk(shape, length, 71)};
            std::vector<TalkStep> steps = {{.rows = {1}}};
            if (length > 1) steps.insert(steps.begin(), {.rows = {length - 1}, .attends = false});
            const auto expected = play(*reference, shape, talks, steps);
            for (const int threads : kThreadCounts)
                expect_same(play(*with_threads(threads), shape, talks, steps), expected,
                            std::to_string(length));
        }
    }
}

TEST_P(Conformance, ReadsPromptsBesideDecodingSequences) {
    for (const AttentionShape& shape : {kUsual, AttentionShape{3, 1, 80, DType::f32, DType::f32},
                                        AttentionShape{8, 1, 128, DType::f16, DType::f16}}) {
        const std::vector<Talk> talks = {random_talk(shape, 300, 72), random_talk(shape, 40, 73),
                                         random_talk(shape, 290, 74), random_talk(shape, 19, 75)};
        const std::vector<TalkStep> steps = {{.rows = {299, 0, 250, 3}, .attends = false},
                                             {.rows = {1, 40, 25, 5}},
                                             {.rows = {0, 0, 15, 11}}};
        const auto expected = play(*reference, shape, talks, steps);
        for (const int threads : kThreadCounts)
            expect_same(play(*with_threads(threads), shape, talks, steps), expected,
                        describe(shape));
    }
}

TEST_P(Conformance, ReadsAPromptOf600AtOnce) {
    for (const DType type : {DType::f32, DType::f16}) {
        const AttentionShape shape{
            .heads = 3, .kv_heads = 1, .head_dim = 64, .key_type = type, .value_type = type};
        const std::vector<Talk> talks = {random_talk(shape, 600, 76)};
        const std::vector<TalkStep> steps = {{.rows = {600}}};
        const auto expected = play(*reference, shape, talks, steps);
        for (const int threads : kThreadCounts)
            expect_same(play(*with_threads(threads), shape, talks, steps), expected,
                        std::to_string(threads));
    }
}

TEST_P(Conformance, MergesChunksOfVeryDifferentScores) {
    // Scores that grow, shrink and leave whole chunks without weight: exp of the differences ends
    // in 0 and subnormals.
    const AttentionShape shape{.heads = 2,
                               .kv_heads = 1,
                               .head_dim = 64,
                               .key_type = DType::f32,
                               .value_type = DType::f32};
    std::vector<Talk> talks;
    for (const float slope : {0.3F, -0.3F, 0.0F, 0.01F, -0.01F}) {
        Talk talk = random_talk(shape, 600, 77);
        for (int i = 0; i < 600; ++i)
            for (int c = 0; c < talk.k.cols; ++c) talk.k.at(i, c) += slope * static_cast<float>(i);
        for (float& x : talk.q.values) x = std::abs(x);
        talks.push_back(std::move(talk));
    }
    const std::vector<TalkStep> steps = {{.rows = std::vector<int>(5, 599), .attends = false},
                                         {.rows = std::vector<int>(5, 1)}};
    expect_same(play(*ops, shape, talks, steps), play(*reference, shape, talks, steps), "slopes");
}

TEST_P(Conformance, KeepsSubnormalWeights) {
    // Scores go evenly from -105 to 0 and back, and values are so large that exp of the lowest
    // still counts.
    const AttentionShape shape{.heads = 1,
                               .kv_heads = 1,
                               .head_dim = 64,
                               .key_type = DType::f32,
                               .value_type = DType::f32};
    Talk talk = random_talk(shape, 600, 83);
    std::ranges::fill(talk.q.values, 1.0F);
    for (int i = 0; i < 600; ++i) {
        const float score = -105.0F + 105.0F / 300.0F * static_cast<float>(std::min(i, 600 - i));
        for (int c = 0; c < 64; ++c) {
            talk.k.at(i, c) = score / 8.0F;  // 64 channels, scale 1 / 8
            talk.v.at(i, c) *= score < -80.0F ? 1e37F : 0.0F;
        }
    }
    const std::vector<Talk> talks = {talk};
    const std::vector<TalkStep> steps = {{.rows = {600}}};
    expect_same(play(*ops, shape, talks, steps), play(*reference, shape, talks, steps), "values");
}

TEST_P(Conformance, RoundsKeysAndValuesLikeTheReference) {
    // f16: ties, subnormals, overflow to infinity.
    const AttentionShape shape{.heads = 1,
                               .kv_heads = 1,
                               .head_dim = 64,
                               .key_type = DType::f16,
                               .value_type = DType::f16};
    Talk talk = random_talk(shape, 20, 78);
    constexpr float specials[] = {
        1.0F + 0x1p-11F, 1.0F + 0x3p-11F,     0x1p-24F, 0x1p-25F, 0x1.8p-25F, 65519.0F,
        -65520.0F,       0x1p-15F + 0x1p-26F, 1e-30F,   -0.0F};
    int at = 0;
    for (const float special : specials) {
        talk.v.at(at % 20, 3 * at) = special;
        talk.k.at((at + 7) % 20, 2 * at) = std::fmod(special, 100.0F);
        ++at;
    }
    const std::vector<Talk> talks = {talk};
    expect_same(play(*ops, shape, talks, {{.rows = {20}}}),
                play(*reference, shape, talks, {{.rows = {20}}}), "special values");
}

TEST_P(Conformance, RopeStoreIsRopeThenStore) {
    for (const RopePairing pairing : {RopePairing::interleaved, RopePairing::halves}) {
        RopeConfig rope;
        rope.dims = 64;
        rope.pairing = pairing;
        const auto table = RopeTable::make(rope, 64);
        ASSERT_TRUE(table);
        const AttentionConfig config = kUsual.config();
        const Matrix qkv = random_matrix(37, (6 + 2 + 2) * 64, 79);
        const auto run = [&](Ops& on, bool fused, Matrix& rotated) {
            const Step step({{.context = 0, .rows = 17, .pages = {4, 1}},
                             {.context = 0, .rows = 20, .pages = {0, 3}}});
            auto kv = on.allocate_kv({.layers = 2,
                                      .heads = 2,
                                      .head_dim = 64,
                                      .key_type = DType::f16,
                                      .value_type = DType::f16,
                                      .pages = 5});
            EXPECT_TRUE(kv);
            const Buffer in = put(on, qkv);
            const Buffer out = empty(on, 37, 6 * 64);
            on.begin_step(step.input());
            if (fused) {
                on.rope_store(*table, config, *kv, 1, in.view);
            } else {
                on.rope(*table, 6, 64, in.view.columns(0, 6 * 64));
                on.rope(*table, 2, 64, in.view.columns(6 * 64, 2 * 64));
                on.store_kv(*kv, 1, in.view.columns(6 * 64, 2 * 64),
                            in.view.columns(8 * 64, 2 * 64));
            }
            on.attend(*kv, 1, config, in.view.columns(0, 6 * 64), out.view);
            EXPECT_TRUE(on.finish());
            rotated = get(on, in.view);
            return get(on, out.view);
        };
        Matrix rotated_expected;
        const Matrix expected = run(*reference, false, rotated_expected);
        for (const int threads : kThreadCounts) {
            Matrix rotated;
            EXPECT_TRUE(same_bits(run(*with_threads(threads), true, rotated), expected)) << threads;
            EXPECT_TRUE(same_bits(rotated, rotated_expected)) << threads;
        }
    }
}

// ---- invariance, also of the reference

std::vector<TalkStep> cut(int length, int chunk) {
    std::vector<TalkStep> steps;
    for (int at = 0; at < length; at += chunk)
        steps.push_back({.rows = {std::min(chunk, length - at)}});
    return steps;
}

TEST_P(Invariance, ReadsAPromptInAnyChunksWithTheSameBits) {
    for (const DType type : {DType::f32, DType::f16}) {
        const AttentionShape shape{
            .heads = 3, .kv_heads = 1, .head_dim = 64, .key_type = type, .value_type = type};
        const int length = 330;
        const std::vector<Talk> talks = {random_talk(shape, length, 81)};
        const auto at_once = play(*ops, shape, talks, cut(length, length));
        for (const int chunk : {1, 7, 64, 256})
            expect_same(play(*ops, shape, talks, cut(length, chunk)), at_once,
                        std::to_string(chunk));
    }
}

TEST_P(Invariance, GivesASequenceTheSameBitsAloneAndBesideOthers) {
    const std::vector<int> lengths = {270, 16, 33, 5};
    std::vector<Talk> talks;
    for (const int length : lengths)
        talks.push_back(random_talk(kUsual, length, static_cast<unsigned>(82 + length)));
    const auto together =
        play(*ops, kUsual, talks, {{.rows = {200, 10, 30, 2}}, {.rows = {70, 6, 3, 3}}});
    for (std::size_t i = 0; i < talks.size(); ++i) {
        const auto alone = play(*ops, kUsual, {talks[i]}, {{.rows = {lengths[i]}}});
        EXPECT_TRUE(same_bits(alone[0], together[i])) << i;
    }
}

TEST_P(Invariance, KeepsNonFiniteQueriesAndKeysToTheirOwnRows) {
    const std::vector<Talk> clean = {random_talk(kUsual, 20, 91), random_talk(kUsual, 30, 92)};
    std::vector<Talk> talks = clean;
    talks[0].q.at(4, 70) = kNan;           // head 1 of position 4
    talks[0].q.at(7, 5 * 64) = kInfinity;  // head 5 of position 7
    talks[1].k.at(25, 3) = kNan;           // kv head 0 from position 25 on
    talks[1].v.at(27, 64) = kInfinity;     // kv head 1 from position 27 on
    const std::vector<TalkStep> steps = {{.rows = {20, 30}}};
    const auto expected = play(*ops, kUsual, clean, steps);
    const auto actual = play(*ops, kUsual, talks, steps);
    for (int i = 0; i < 20; ++i) {
        if (i == 4 || i == 7) continue;
        EXPECT_TRUE(same_bits(actual[0].slice(i, 1), expected[0].slice(i, 1))) << i;
    }
    for (int c = 0; c < 64; ++c) {
        EXPECT_TRUE(std::isnan(actual[0].at(4, 64 + c))) << c;
        EXPECT_TRUE(std::isnan(actual[0].at(7, 5 * 64 + c))) << c;
        EXPECT_TRUE(std::isnan(actual[1].at(25, c))) << c;
    }
    EXPECT_TRUE(same_bits(actual[1].slice(0, 25), expected[1].slice(0, 25)));
    EXPECT_FALSE(std::isfinite(actual[1].at(27, 3 * 64)));
    EXPECT_EQ(actual[1].at(27, 3 * 64 + 1), expected[1].at(27, 3 * 64 + 1));
}

TEST_P(Invariance, KeepsLayersApart) {
    const Talk first = random_talk(kUsual, 20, 95);
    const Talk second = random_talk(kUsual, 20, 98);
    const auto attended = [&](bool both) {
        const Step step({{.context = 0, .rows = 20, .pages = {1, 0}}});
        auto kv = ops->allocate_kv({.layers = 2,
                                    .heads = 2,
                                    .head_dim = 64,
                                    .key_type = DType::f16,
                                    .value_type = DType::f16,
                                    .pages = 2});
        EXPECT_TRUE(kv);
        const Buffer q = put(*ops, first.q);
        const Buffer k = put(*ops, first.k);
        const Buffer v = put(*ops, first.v);
        const Buffer other_k = put(*ops, second.k);
        const Buffer other_v = put(*ops, second.v);
        const Buffer out = empty(*ops, 20, first.q.cols);
        ops->begin_step(step.input());
        ops->store_kv(*kv, 0, k.view, v.view);
        if (both) ops->store_kv(*kv, 1, other_k.view, other_v.view);
        ops->attend(*kv, 0, kUsual.config(), q.view, out.view);
        EXPECT_TRUE(ops->finish());
        return get(*ops, out.view);
    };
    EXPECT_TRUE(same_bits(attended(true), attended(false)));
}

TEST_P(Invariance, RefusesCacheTypesItDoesNotKnow) {
    const auto kv = ops->allocate_kv({.layers = 1,
                                      .heads = 1,
                                      .head_dim = 64,
                                      .key_type = DType::q6_k,
                                      .value_type = DType::f16,
                                      .pages = 1});
    ASSERT_FALSE(kv);
    EXPECT_EQ(kv.error().code, ErrorCode::bad_input);
    EXPECT_NE(kv.error().message.find("Q6_K"), std::string::npos);
}

TEST_P(Invariance, SaysHowManyBytesAPageTakes) {
    const auto kv = ops->allocate_kv({.layers = 3,
                                      .heads = 2,
                                      .head_dim = 64,
                                      .key_type = DType::f16,
                                      .value_type = DType::f32,
                                      .pages = 7});
    ASSERT_TRUE(kv);
    EXPECT_EQ(kv->bytes_per_page, 3U * 2U * 64U * 16U * (2U + 4U));
    EXPECT_EQ(kv->shape.pages, 7);
}

}  // namespace
}  // namespace hearth::test
