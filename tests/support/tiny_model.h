// A model with a device and state around it, run step by step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"
#include "engine/model/model.h"
#include "engine/ops/ops.h"
#include "engine/state/full_kv.h"
#include "engine/state/sequence_state.h"

namespace hearth::testing {

struct TinyOptions {
    DType kv_type = DType::f32;
    int pages = 128;
    int rows = 512;  // of one step
};

class TinyModel {
public:
    // Ends the test program when the model does not load.
    TinyModel(std::unique_ptr<Ops> ops, const std::string& path, TinyOptions options = {});

    struct Part {
        state::SequenceState* sequence;
        std::span<const std::int32_t> ids;
    };
    // One step that appends each part's ids to its sequence; logits [all ids, vocabulary] of every
    // row.
    std::vector<float> step(std::span<const Part> parts);
    // Logits [ids, vocabulary] of a fresh sequence, `chunk` ids per step.
    std::vector<float> logits(std::span<const std::int32_t> ids, int chunk);

    state::SequenceState sequence() { return state::SequenceState(kv_->pages()); }
    const model::Model& model() const { return *model_; }
    Ops& ops() { return *ops_; }
    state::FullKv& kv() { return *kv_; }

private:
    std::unique_ptr<Ops> ops_;
    std::unique_ptr<model::Model> model_;
    std::unique_ptr<state::FullKv> kv_;
    model::Activations activations_;
};

}  // namespace hearth::testing
