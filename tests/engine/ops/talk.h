// Attention as a story: sequences that grow step by step on a backend, with their pages scattered
// among NaN.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/ops/ops.h"
#include "tests/engine/ops/material.h"

namespace hearth::test {

struct AttentionShape {
    int heads;
    int kv_heads;
    int head_dim;
    DType key_type;
    DType value_type;

    AttentionConfig config() const;
};

// One sequence: row i of each matrix belongs to position i.
struct Talk {
    Matrix q;
    Matrix k;
    Matrix v;
};
Talk random_talk(const AttentionShape& shape, int length, unsigned seed);

// How many rows of each sequence a step has; `attends` is false for steps that only fill the pages.
struct TalkStep {
    std::vector<int> rows;
    bool attends = true;
};

// Plays the steps on layer 1 of 2. Returns the outputs of all positions of each sequence, 0 where
// no step attended.
std::vector<Matrix> play(Ops& ops, const AttentionShape& shape, const std::vector<Talk>& talks,
                         const std::vector<TalkStep>& steps);

}  // namespace hearth::test
