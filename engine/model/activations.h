// Scratch of one step, sized once. Rows beyond those of a step are unused.
#pragma once

#include "engine/model/config.h"
#include "engine/ops/ops.h"

namespace hearth::model {

struct StepLimits {
    int rows;     // most tokens of one step
    int sampled;  // most rows of one step whose logits are wanted
};

struct Activations {
    Buffer x;       // [rows, width] the residual stream
    Buffer qkv;     // [rows, (heads + 2 * kv_heads) * head_dim]
    Buffer mixed;   // [rows, heads * head_dim]
    Buffer gated;   // [rows, ffn_width]
    Buffer last;    // [sampled, width] the rows that are sampled from: the hidden state before the
                    // final norm
    Buffer logits;  // [sampled, vocabulary]

    static Result<Activations> make(Ops& ops, const ModelConfig& config, StepLimits limits);
};

}  // namespace hearth::model
