// What a model is, read from the metadata of its file and checked before anything is sized by it.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/gguf/reader.h"
#include "engine/ops/args.h"
#include "engine/ops/rope_table.h"

namespace hearth::model {

struct ModelConfig {
    std::string architecture;
    std::string name;         // general.name, or empty
    int layers = 0;           // 1 to 512
    int width = 0;            // 1 to 65,536
    int heads = 0;            // 1 to 1024
    int kv_heads = 0;         // divides heads
    int head_dim = 0;         // even, 2 to 1024
    int ffn_width = 0;        // 1 to 1,048,576
    int vocabulary = 0;       // rows of token_embd.weight, 1 to 2,097,152
    int trained_context = 0;  // positions
    float norm_eps = 0;       // above 0, at most 0.1
    RopeConfig rope;          // rope.dims <= head_dim

    int q_width() const { return heads * head_dim; }
    int kv_width() const { return kv_heads * head_dim; }
    AttentionConfig attention() const;  // scale fl(1 / sqrt(head_dim))
};

// Reads the keys that models of the llama family share; `file` has `general.architecture`. Errors:
// model_invalid naming the key (missing, out of range, contradicting another), unsupported_model
// naming what it asks for that we do not do.
Result<ModelConfig> read_config(const gguf::File& file);

}  // namespace hearth::model
