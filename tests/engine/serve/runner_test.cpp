// One step on the device: which logits come back.
#include "engine/serve/runner.h"

#include <gtest/gtest.h>

#include "engine/base/mapped_file.h"
#include "engine/model/families.h"
#include "engine/reference/reference_ops.h"
#include "tests/support/goldens.h"
#include "tests/support/paths.h"

namespace hearth::serve {
namespace {

std::unique_ptr<model::Model> tiny_model(Ops& ops) {
    const MappedFile mapped = std::move(MappedFile::open(testing::tiny_model_path())).value();
    const gguf::File file = std::move(gguf::File::read(mapped.bytes())).value();
    return std::move(model::load(ops, file, 0)).value();
}

Runner make_runner(Ops& ops, const model::Model& model, int pages) {
    return std::move(Runner::make(ops, model,
                                  {.limits = {.rows = 128, .sampled = 128},
                                   .key_type = DType::f32,
                                   .value_type = DType::f32,
                                   .pages = pages}))
        .value();
}

TEST(Runner, LogitsAreThoseOfTheSampledRows) {
    const auto golden = testing::golden_logits().front();
    const std::span<const std::int32_t> ids(golden.ids);
    const auto ops = make_reference_ops();
    const auto model = tiny_model(*ops);
    Runner runner = make_runner(*ops, *model, 32);
    state::SequenceState whole(runner.pages());
    const StepPart all{.sequence = &whole, .tokens = ids, .sampled = static_cast<int>(ids.size())};
    ASSERT_TRUE(runner.step({&all, 1}));
    const std::vector<float> at9(runner.logits(9).begin(), runner.logits(9).end());
    const std::vector<float> at79(runner.logits(79).begin(), runner.logits(79).end());

    // The same rows from one step with three sequences, of which one is not sampled.
    state::SequenceState a(runner.pages());
    state::SequenceState b(runner.pages());
    state::SequenceState c(runner.pages());
    const StepPart begin{.sequence = &c, .tokens = ids.first(79), .sampled = 0};
    ASSERT_TRUE(runner.step({&begin, 1}));
    const StepPart parts[] = {{.sequence = &a, .tokens = ids.first(10), .sampled = 1},
                              {.sequence = &b, .tokens = ids.first(5), .sampled = 0},
                              {.sequence = &c, .tokens = ids.last(1), .sampled = 1}};
    ASSERT_TRUE(runner.step(parts));
    EXPECT_TRUE(std::equal(at9.begin(), at9.end(), runner.logits(0).begin()));
    EXPECT_TRUE(std::equal(at79.begin(), at79.end(), runner.logits(1).begin()));
    EXPECT_EQ(b.committed(), 5);
    EXPECT_EQ(c.committed(), 80);
}

}  // namespace
}  // namespace hearth::serve
