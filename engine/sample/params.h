// How the next token is picked. Every field has the range that requests are checked against.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace hearth::sample {

struct Params {
    float temperature = 1.0F;  // 0..2; 0 is greedy
    int top_k = 0;             // 0: off; else 1..vocabulary
    float top_p = 1.0F;        // 0 < p <= 1
    float min_p = 0.0F;        // 0..1
    // > 0..2; divides positive and multiplies negative logits of seen tokens
    float repetition_penalty = 1.0F;
    float presence_penalty = 0.0F;                                // -2..2, over generated tokens
    float frequency_penalty = 0.0F;                               // -2..2, over generated tokens
    std::vector<std::pair<std::int32_t, float>> logit_bias = {};  // token, -100..100; at most 1024
    std::uint64_t seed = 0;
    std::uint32_t choice = 0;  // index of the choice when a request asks for several
};

// bad_input naming the field that is out of range.
Result<void> validate(const Params& params, int vocabulary);

}  // namespace hearth::sample
