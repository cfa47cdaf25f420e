// How likely a model finds a given text: what perplexity and divergence are computed from. The
// softmax is taken in double over the model's f32 logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/load.h"

namespace hearth::generate {

struct ScoreOptions {
    int top = 0;  // likeliest tokens that are kept per position, 0 to 1000
    DType key_type = DType::f16;
    DType value_type = DType::f16;
};

struct ScoreReport {
    // [i]: natural log of the probability of ids[i + 1] after ids[0..i]; one shorter than the ids.
    std::vector<double> next_logprob;
    double perplexity = 0;  // exp of the negated mean of next_logprob
    // [i]: the likeliest tokens after ids[0..i], best first, lower id first among equals; as long
    // as the ids. Empty when none are asked for.
    std::vector<std::vector<std::int32_t>> top_ids;
    std::vector<std::vector<double>> top_logprobs;
};

// At least two ids. Errors: bad_input (too few, not in the vocabulary), context_exceeded with both
// numbers, numeric_error naming the position, no_memory.
Result<ScoreReport> score(const LoadedModel& model, std::span<const std::int32_t> ids,
                          const ScoreOptions& options);

}  // namespace hearth::generate
