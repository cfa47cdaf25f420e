// Picks the next token: a pure function of logits, mask, token history, parameters and key. Nothing
// is remembered from one pick to the next, so going back costs nothing.
//
// Order: mask, bias, penalties, temperature, top-k, top-p, min-p, draw. Ties go to the lowest id
// everywhere.
//   bias        l += bias
//   repetition  of tokens in prompt or answer: l /= r when l > 0, else l *= r
//   presence, frequency   of tokens in the answer, n times: l -= presence + n * frequency
//   temperature z = l / t; below kGreedyTemperature the largest l wins and the rest is skipped
//   top-k       the k largest z
//   top-p       of those in descending order, the shortest run whose probability is at least p (at
//   least one) min-p       those with exp(z - max z) >= min_p draw        u * (sum of exp(z - max
//   z)), with u = random_unit(seed, choice, position), then a walk: by ascending id
//               when neither top-k nor top-p is on, else by descending z
// Probabilities are those of a softmax over the tokens that are left at that point.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/sample/params.h"

namespace hearth::sample {

constexpr float kGreedyTemperature = 1e-4F;

struct Inputs {
    std::span<const float> logits;  // [vocabulary]
    std::span<const std::uint64_t>
        mask;  // bit i mod 64 of word i / 64: token i is allowed; empty: all are
    std::span<const std::int32_t> prompt;     // ids before the answer
    std::span<const std::int32_t> generated;  // ids of the answer
};

struct IdLogprob {
    std::int32_t id;
    float logprob;  // natural log, of the softmax of the unmodified logits
};

struct Picked {
    std::int32_t id = 0;
    float logprob = 0.0F;        // when asked for
    std::vector<IdLogprob> top;  // likeliest first, when asked for
};

// Holds scratch memory only. Not thread-safe.
class Sampler {
public:
    explicit Sampler(int vocabulary);

    // `params` must be valid for the vocabulary. logprobs: -1 none, else of the picked token and of
    // the `logprobs` likeliest. Errors: numeric_error when a logit is not finite; bad_input when
    // the mask allows no token.
    Result<Picked> pick(const Params& params, const Inputs& inputs, int logprobs = -1);

private:
    struct Candidate {
        float z;
        std::int32_t id;
        float weight;  // exp(z - max z)
    };

    std::span<const float> adjust(const Params& params, const Inputs& inputs);
    void apply_penalties(const Params& params, const Inputs& inputs);
    std::int32_t walk_all(float min_p, double unit, float max);
    std::int32_t walk_candidates(const Params& params, double unit, float max);
    void select(std::span<const float> values, int count);
    void cut_to_nucleus(double wanted);
    void select_nucleus(float top_p, float max);
    void add_logprobs(std::span<const float> logits, float max, int count, Picked& picked);

    std::vector<float> adjusted_;        // [vocabulary] logits after bias and penalties, then z
    std::vector<float> weights_;         // [vocabulary]
    std::vector<float> block_sums_;      // [ceil(vocabulary / 256)]
    std::vector<std::int32_t> counts_;   // [vocabulary], all zero between picks
    std::vector<Candidate> candidates_;  // in descending order of z
};

}  // namespace hearth::sample
