// The forward pass against logits that `transformers` computed in float32
// (tests/data/make_tiny_models.py), and against itself: how a prompt is cut and what else runs in
// the step must not change a bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/device/make_ops.h"
#include "engine/reference/reference_ops.h"
#include "tests/support/goldens.h"
#include "tests/support/paths.h"
#include "tests/support/tiny_model.h"

namespace hearth::testing {
namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(LlamaForward, LogitsAreWithinOneTenThousandthOfTheLargest) {
    const auto cases = golden_logits();
    ASSERT_EQ(cases.size(), 5U);
    for (const GoldenLogits& golden : cases) {
        SCOPED_TRACE(golden.model + " " + golden.name);
        TinyModel tiny(make_reference_ops(), tiny_model_path(golden.model));
        const std::vector<float> logits = tiny.logits(golden.ids, 512);
        const auto vocabulary = static_cast<std::size_t>(golden.vocabulary);
        const std::size_t skipped = static_cast<std::size_t>(golden.first) * vocabulary;
        ASSERT_EQ(logits.size(), skipped + golden.logits.size());
        for (std::size_t row = 0; row < golden.logits.size(); row += vocabulary) {
            float largest = 0;
            float error = 0;
            for (std::size_t i = row; i < row + vocabulary; ++i) {
                largest = std::max(largest, std::abs(golden.logits[i]));
                error = std::max(error, std::abs(golden.logits[i] - logits[skipped + i]));
            }
            ASSERT_LE(error, 1e-4F * largest) << "row " << row / vocabulary;
        }
    }
}

TEST(LlamaForward, EveryBackendAndThreadCountGivesTheBitsOfTheReference) {
    const DeviceOptions devices[] = {
        {.backend = "cpu", .threads = 1},      {.backend = "cpu", .threads = 2},
        {.backend = "cpu", .threads = 3},      {.backend = "cpu-emulated", .threads = 2},
        {.backend = "cpu-avx2", .threads = 2}, {.backend = "cpu-avx512", .threads = 2}};
    for (const GoldenLogits& golden : golden_logits()) {
        TinyModel reference(make_reference_ops(), tiny_model_path(golden.model));
        const std::vector<float> expected = reference.logits(golden.ids, 512);
        for (const DeviceOptions& device : devices) {
            SCOPED_TRACE(golden.model + " on " + device.backend + ", threads " +
                         std::to_string(device.threads));
            auto ops = make_ops(device);
            if (!ops && ops.error().code == ErrorCode::device_failed) continue;  // not this machine
            ASSERT_TRUE(ops) << ops.error().message;
            TinyModel tiny(std::move(ops).value(), tiny_model_path(golden.model));
            for (const int chunk : {512, 64, 7, 1})
                EXPECT_TRUE(same_bits(expected, tiny.logits(golden.ids, chunk)))
                    << "chunks of " << chunk;
        }
    }
}

TEST(LlamaForward, PromptChunksDoNotChangeABit) {
    for (const GoldenLogits& golden : golden_logits()) {
        SCOPED_TRACE(golden.model + " " + golden.name);
        TinyModel tiny(make_reference_ops(), tiny_model_path(golden.model));
        const std::vector<float> whole = tiny.logits(golden.ids, 512);
        for (const int chunk : {1, 7, 64})
            EXPECT_TRUE(same_bits(whole, tiny.logits(golden.ids, chunk))) << "chunks of " << chunk;
        EXPECT_EQ(tiny.kv().pages().free(), tiny.kv().pages().total());
    }
}

TEST(LlamaForward, OtherSequencesInTheStepDoNotChangeABit) {
    const GoldenLogits golden = golden_logits().front();
    TinyModel tiny(make_reference_ops(), tiny_model_path(golden.model));
    const std::span<const std::int32_t> ids(golden.ids);
    const std::vector<float> alone = tiny.logits(ids, 512);
    std::vector<state::SequenceState> sequences;
    for (int i = 0; i < 16; ++i) sequences.push_back(tiny.sequence());
    // Sequence i begins i ids into the text; they advance together, 5 ids a step.
    std::vector<std::vector<float>> together(sequences.size());
    for (std::size_t at = 0; at + 5 <= 60; at += 5) {
        std::vector<TinyModel::Part> parts;
        for (std::size_t i = 0; i < sequences.size(); ++i)
            parts.push_back({&sequences[i], ids.subspan(i + at, 5)});
        const std::vector<float> logits = tiny.step(parts);
        const auto share = static_cast<std::ptrdiff_t>(logits.size() / sequences.size());
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i) * share;
            together[i].insert(together[i].end(), first, first + share);
        }
    }
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_TRUE(same_bits(together[i], tiny.logits(ids.subspan(i, 60), 512)));
    }
    EXPECT_TRUE(same_bits(together[0], std::span(alone).first(together[0].size())));
}

TEST(LlamaForward, AForkThatSharesPagesContinuesLikeAFreshSequence) {
    const GoldenLogits golden = golden_logits().front();
    TinyModel tiny(make_reference_ops(), tiny_model_path(golden.model));
    const std::span<const std::int32_t> ids(golden.ids);
    const std::vector<float> alone = tiny.logits(ids, 512);
    state::SequenceState first = tiny.sequence();
    const TinyModel::Part prompt{&first, ids.first(32)};
    tiny.step({&prompt, 1});
    state::SequenceState second = first.fork();
    const TinyModel::Part rest{&second, ids.subspan(32)};
    const std::vector<float> continued = tiny.step({&rest, 1});
    EXPECT_TRUE(same_bits(continued, std::span(alone).last(continued.size())));
}

}  // namespace
}  // namespace hearth::testing
