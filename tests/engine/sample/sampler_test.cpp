// Each filter on logits small enough to check by eye, then the sampler against a plain one that
// sorts everything.
#include "engine/sample/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/ops/math.h"
#include "engine/sample/random.h"

namespace hearth::sample {
namespace {

using Ids = std::vector<std::int32_t>;

struct Case {
    std::vector<float> logits;
    Params params;
    Ids prompt = {};
    Ids generated = {};
    std::vector<std::uint64_t> mask = {};
};

Result<Picked> pick(const Case& c, int logprobs = -1) {
    Sampler sampler(static_cast<int>(c.logits.size()));
    return sampler.pick(c.params, {c.logits, c.mask, c.prompt, c.generated}, logprobs);
}

// How often each id comes in `draws` positions.
std::map<int, int> histogram(Case c, int draws) {
    std::map<int, int> counts;
    Sampler sampler(static_cast<int>(c.logits.size()));
    for (int i = 0; i < draws; ++i) {
        const auto picked = sampler.pick(c.params, {c.logits, c.mask, c.prompt, c.generated});
        EXPECT_TRUE(picked);
        ++counts[picked->id];
        c.params.seed += 1;
    }
    return counts;
}

Ids drawn(const Case& c) {
    Ids ids;
    for (const auto& [id, count] : histogram(c, 2000)) ids.push_back(id);
    return ids;
}

Params greedy() { return {.temperature = 0}; }

TEST(Sampler, GreedyTakesTheLargestAndTheLowestIdOfEquals) {
    EXPECT_EQ(pick({{1, 3, 2, 3}, greedy()})->id, 1);
    EXPECT_EQ(pick({{-5}, greedy()})->id, 0);
}

TEST(Sampler, AMaskedTokenIsNeverPicked) {
    Case c{{1, 3, 2, 3}, greedy()};
    c.mask = {0b0101};
    EXPECT_EQ(pick(c)->id, 2);
    c.params = {};
    EXPECT_EQ(drawn(c), (Ids{0, 2}));
    c.params.top_p = 0.999F;
    EXPECT_EQ(drawn(c), (Ids{0, 2}));
    c.mask = {0};
    EXPECT_EQ(pick(c).error().code, ErrorCode::bad_input);
}

TEST(Sampler, BiasIsAdded) {
    Case c{{1, 3, 2}, greedy()};
    c.params.logit_bias = {{1, -100.0F}, {0, 1.5F}};
    EXPECT_EQ(pick(c)->id, 0);
}

TEST(Sampler, RepetitionDividesPositiveAndMultipliesNegativeLogitsOfSeenTokensOnce) {
    Case c{{3, 2.9F, -1}, greedy()};
    c.params.repetition_penalty = 1.1F;
    c.prompt = {0, 0, 0};
    EXPECT_EQ(pick(c)->id, 1);
    c.logits = {3, 2.7F, -1};  // 3 / 1.1 is still above 2.7: three times in the prompt count once
    EXPECT_EQ(pick(c)->id, 0);
    c.logits = {-1, -1.05F, -9};
    EXPECT_EQ(pick(c)->id, 1);
    c.generated = {1};
    EXPECT_EQ(pick(c)->id, 0);
}

TEST(Sampler, PresenceAndFrequencyCountTheAnswerOnly) {
    Case c{{3, 2, 1}, greedy()};
    c.params.presence_penalty = 1.5F;
    c.prompt = {0, 0};
    EXPECT_EQ(pick(c)->id, 0);
    c.generated = {0};
    EXPECT_EQ(pick(c)->id, 1);
    c.params = greedy();
    c.params.frequency_penalty = 0.6F;
    EXPECT_EQ(pick(c)->id, 0);
    c.generated = {0, 0};
    EXPECT_EQ(pick(c)->id, 1);
}

TEST(Sampler, PenaltiesLeaveNothingBehindForTheNextPick) {
    Sampler sampler(3);
    Params params = greedy();
    params.presence_penalty = 2;
    params.repetition_penalty = 1.5F;
    const std::vector<float> logits = {3, 2, 1};
    const Ids seen = {0, 0, 1};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(sampler.pick(params, {logits, {}, {}, seen})->id, 2);
        EXPECT_EQ(sampler.pick(params, {logits, {}, {}, {}})->id, 0);
    }
}

TEST(Sampler, TopKKeepsTheKLargestAndTheLowestIdsOfEquals) {
    Case c{{1, 1, 1, 1, 0}, {}};
    c.params.top_k = 2;
    EXPECT_EQ(drawn(c), (Ids{0, 1}));
    c.logits = {0, 5, 4, 5, 5};
    EXPECT_EQ(drawn(c), (Ids{1, 3}));
}

TEST(Sampler, TopPKeepsTheShortestRunThatReachesTheShare) {
    // Probabilities 1/2, 1/4, 1/8, 1/8.
    Case c{{std::log(4.0F), std::log(8.0F), std::log(2.0F), std::log(2.0F)}, {}};
    c.params.top_p = 0.45F;
    EXPECT_EQ(drawn(c), (Ids{1}));
    c.params.top_p = 0.6F;
    EXPECT_EQ(drawn(c), (Ids{0, 1}));
    c.params.top_p = 0.8F;
    EXPECT_EQ(drawn(c), (Ids{0, 1, 2}));
    c.params.top_p = 0.95F;
    EXPECT_EQ(drawn(c), (Ids{0, 1, 2, 3}));
    c.params.top_p = 1e-6F;
    EXPECT_EQ(drawn(c), (Ids{1}));
}

TEST(Sampler, TopPCountsWithinWhatTopKLeft) {
    // After top-k 2 the probabilities are 2/3 and 1/3.
    Case c{{std::log(4.0F), std::log(8.0F), std::log(2.0F), std::log(2.0F)}, {}};
    c.params.top_k = 2;
    c.params.top_p = 0.6F;
    EXPECT_EQ(drawn(c), (Ids{1}));
}

TEST(Sampler, MinPIsRelativeToTheLikeliest) {
    Case c{{std::log(4.0F), std::log(8.0F), std::log(2.0F), std::log(1.0F)}, {}};
    c.params.min_p = 0.2F;
    EXPECT_EQ(drawn(c), (Ids{0, 1, 2}));
    c.params.top_k = 4;
    EXPECT_EQ(drawn(c), (Ids{0, 1, 2}));
    c.params.min_p = 1.0F;
    EXPECT_EQ(drawn(c), (Ids{1}));
}

TEST(Sampler, DrawsFollowTheProbabilities) {
    Case c{{std::log(1.0F), std::log(2.0F), std::log(3.0F), std::log(4.0F)}, {}};
    for (const int top_k : {0, 4}) {
        c.params.top_k = top_k;
        auto counts = histogram(c, 20000);
        for (int id = 0; id < 4; ++id) EXPECT_NEAR(counts[id], 2000 * (id + 1), 250) << id;
    }
}

TEST(Sampler, TemperatureSharpensAndFlattens) {
    Case c{{0, 1}, {}};
    c.params.temperature = 0.5F;  // e^2 : 1
    EXPECT_NEAR(histogram(c, 20000)[1], 17616, 300);
    c.params.temperature = 2.0F;  // e^0.5 : 1
    EXPECT_NEAR(histogram(c, 20000)[1], 12449, 300);
}

TEST(Sampler, TheSameKeyGivesTheSameTokenAndThePositionChangesIt) {
    Case c{std::vector<float>(1000, 1.0F), {.seed = 9}};
    const int first = pick(c)->id;
    EXPECT_EQ(pick(c)->id, first);
    c.generated = {1};
    const int second = pick(c)->id;
    EXPECT_NE(second, first);
    c.prompt = {1};
    c.generated = {};
    EXPECT_EQ(pick(c)->id,
              second);  // the position in the sequence counts, not who wrote the token before
    c.params.choice = 1;
    EXPECT_NE(pick(c)->id, second);
}

TEST(Sampler, LogprobsAreThoseOfTheUnmodifiedSoftmax) {
    Case c{{std::log(1.0F), std::log(2.0F), std::log(4.0F), std::log(1.0F)}, greedy()};
    c.params.logit_bias = {{2, -100.0F}};
    const auto picked = pick(c, 3);
    ASSERT_TRUE(picked);
    EXPECT_EQ(picked->id, 1);
    EXPECT_NEAR(picked->logprob, std::log(0.25), 1e-6);
    ASSERT_EQ(picked->top.size(), 3U);
    EXPECT_EQ(picked->top[0].id, 2);
    EXPECT_NEAR(picked->top[0].logprob, std::log(0.5), 1e-6);
    EXPECT_EQ(picked->top[1].id, 1);
    EXPECT_EQ(picked->top[2].id, 0);  // equal with 3: the lower id
}

TEST(Sampler, LogitsThatAreNotFiniteAreANumericError) {
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
        Case c{{1, bad, 2}, greedy()};
        EXPECT_EQ(pick(c).error().code, ErrorCode::numeric_error);
        c.params = {};
        EXPECT_EQ(pick(c).error().code, ErrorCode::numeric_error);
    }
}

TEST(Params, FieldsOutOfRangeAreNamed) {
    const float nan = std::nanf("");
    const std::pair<const char*, Params> cases[] = {
        {"temperature", {.temperature = -0.1F}},
        {"temperature", {.temperature = 2.1F}},
        {"temperature", {.temperature = nan}},
        {"top_k", {.top_k = -1}},
        {"top_k", {.top_k = 11}},
        {"top_p", {.top_p = 0}},
        {"top_p", {.top_p = 1.01F}},
        {"top_p", {.top_p = nan}},
        {"min_p", {.min_p = -0.1F}},
        {"repetition_penalty", {.repetition_penalty = 0}},
        {"presence_penalty", {.presence_penalty = 3}},
        {"frequency_penalty", {.frequency_penalty = -3}},
        {"logit_bias", {.logit_bias = {{10, 0}}}},
        {"logit_bias", {.logit_bias = {{-1, 0}}}},
        {"logit_bias", {.logit_bias = {{0, 101}}}},
    };
    EXPECT_TRUE(validate({}, 10));
    for (const auto& [field, params] : cases) {
        SCOPED_TRACE(field);
        const auto result = validate(params, 10);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::bad_input);
        EXPECT_THAT(result.error().message, ::testing::HasSubstr(field));
    }
}

// The filters by sorting the whole vocabulary: which tokens survive.
Ids plain_survivors(const std::vector<float>& logits, const Params& params) {
    Ids ids;
    for (std::size_t i = 0; i < logits.size(); ++i) ids.push_back(static_cast<std::int32_t>(i));
    const auto z = [&](std::int32_t id) {
        return logits[static_cast<std::size_t>(id)] / params.temperature;
    };
    std::sort(ids.begin(), ids.end(),
              [&](auto a, auto b) { return z(a) != z(b) ? z(a) > z(b) : a < b; });
    const auto weight = [&](std::int32_t id) { return double{exp_f32(z(id) - z(ids[0]))}; };
    if (params.top_k > 0) ids.resize(static_cast<std::size_t>(params.top_k));
    double total = 0;
    for (const auto id : ids) total += weight(id);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < ids.size() && sum < double{params.top_p} * total) sum += weight(ids[kept++]);
    ids.resize(std::max<std::size_t>(kept, 1));
    std::erase_if(ids, [&](auto id) { return weight(id) < double{params.min_p}; });
    std::sort(ids.begin(), ids.end());
    return ids;
}

TEST(Sampler, SurvivorsAreThoseOfASortedVocabulary) {
    for (std::uint32_t round = 0; round < 60; ++round) {
        SCOPED_TRACE(round);
        const auto unit = [&](std::uint32_t i) { return random_unit({round, 1, i}); };
        Case c{{}, {}};
        for (std::uint32_t i = 0; i < 300; ++i)  // few levels, so that there are many ties
            c.logits.push_back(std::floor(static_cast<float>(unit(i)) * 16.0F) / 2.0F);
        c.params.temperature = 0.5F + static_cast<float>(unit(1001));
        if (round % 3 != 0) c.params.top_k = 1 + static_cast<int>(unit(1002) * 60);
        if (round % 2 != 0) c.params.top_p = 0.3F + 0.6F * static_cast<float>(unit(1003));
        if (round % 5 != 0) c.params.min_p = 0.3F * static_cast<float>(unit(1004));
        const Ids expected = plain_survivors(c.logits, c.params);
        const Ids seen = drawn(c);
        EXPECT_TRUE(std::includes(expected.begin(), expected.end(), seen.begin(), seen.end()));
        if (expected.size() < 30) {
            EXPECT_EQ(seen, expected);
        }
    }
}

}  // namespace
}  // namespace hearth::sample
