// The weights of one model on a device, bound by tensor name. Every tensor of the file is bound or
// refused: a model with tensors that its forward pass does not know (biases, experts, extra norms)
// would silently give wrong answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/gguf/reader.h"
#include "engine/model/config.h"
#include "engine/ops/ops.h"

namespace hearth::model {

struct LayerWeights {
    Buffer attention_norm;  // [1, width]
    Weight qkv;             // [(heads + 2 * kv_heads) * head_dim, width], rows of q, then k, then v
    Weight out;             // [width, heads * head_dim]
    Buffer ffn_norm;        // [1, width]
    Weight gate_up;         // [2 * ffn_width, width], gate rows first
    Weight down;            // [width, ffn_width]
};

struct ModelWeights {
    Weight embedding;  // [vocabulary, width]
    std::vector<LayerWeights> layers;
    Buffer final_norm;  // [1, width]
    std::optional<Weight>
        head;  // [vocabulary, width]; absent: tied, the embedding's one copy serves as head

    const Weight& output() const { return head ? *head : embedding; }
};

// Figures of the tensors that were bound.
struct WeightSummary {
    std::uint64_t parameters = 0;
    std::uint64_t bytes = 0;  // on the device
    std::uint64_t streamed_bytes =
        0;                         // of these, what every step reads: all but an untied embedding
    DType main_type = DType::f32;  // holds most parameters
};

struct BoundWeights {
    ModelWeights weights;
    WeightSummary summary;
};

// Uploads the tensors of a llama-family file; its bytes are not needed afterwards. Errors:
// model_invalid naming the tensor (missing, other shape than the configuration gives),
// unsupported_model naming the tensor that is unknown or of a type that cannot be used there,
// no_memory.
Result<BoundWeights> bind_weights(Ops& ops, const gguf::File& file, const ModelConfig& config);

}  // namespace hearth::model
