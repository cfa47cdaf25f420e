// Carries out one step: sequences and their next tokens → StepInput → forward → logits. It owns
// what a model needs beside its weights: pages of keys and values, and the scratch of a step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/model/model.h"
#include "engine/ops/ops.h"
#include "engine/state/full_kv.h"
#include "engine/state/sequence_state.h"

namespace hearth::serve {

struct RunnerOptions {
    model::StepLimits limits;
    DType key_type = DType::f16;
    DType value_type = DType::f16;
    int pages = 0;
};

// The next tokens of one sequence.
struct StepPart {
    state::SequenceState* sequence;  // stands where the tokens begin
    std::span<const std::int32_t> tokens;
    int sampled;  // of how many rows, counted from the last, the logits are wanted
};

class Runner {
public:
    // Borrows ops and model. no_memory when pages or scratch do not fit.
    static Result<Runner> make(Ops& ops, const model::Model& model, const RunnerOptions& options);

    // Appends the tokens to their sequences. The pages must be there: whoever plans the step counts
    // them. On an error (device_failed, …) no sequence has moved.
    Result<void> step(std::span<const StepPart> parts);
    // Logits [vocabulary] of sampled row `row` of the last step, counted over its parts; valid
    // until the next step.
    std::span<const float> logits(int row) const;

    state::Pages& pages() { return kv_.pages(); }
    const state::Pages& pages() const { return kv_.pages(); }
    std::size_t bytes_per_page() const { return kv_.bytes_per_page(); }

private:
    Runner(Ops& ops, const model::Model& model, state::FullKv kv, model::Activations activations);

    Ops* ops_;                   // never null; outlives the runner
    const model::Model* model_;  // never null; outlives the runner
    state::FullKv kv_;
    model::Activations activations_;
    std::vector<std::int32_t> tokens_;   // of the step
    std::vector<std::int32_t> sampled_;  // rows
    std::vector<SequenceRows> rows_;
    std::vector<float> logits_;  // [sampled, vocabulary]
};

}  // namespace hearth::serve
