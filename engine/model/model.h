// A loaded model: weights on a device and a forward pass. Families differ behind this class;
// callers do not.
#pragma once

#include "engine/model/activations.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/ops/ops.h"
#include "engine/state/full_kv.h"

namespace hearth::model {

class Model {
public:
    virtual ~Model() = default;

    virtual const ModelConfig& config() const = 0;
    virtual const WeightSummary& summary() const = 0;

    // The keys and values that this model stores.
    KvShape kv_shape(DType key_type, DType value_type, int pages) const {
        return {.layers = config().layers,
                .heads = config().kv_heads,
                .head_dim = config().head_dim,
                .key_type = key_type,
                .value_type = value_type,
                .pages = pages};
    }

    // Enqueues one step between ops.begin_step(step) and ops.finish(). Keys and values go to the
    // pages that the step names; the logits of row step.sampled_rows[i] are row i of act.logits.
    // Every position of the step is below the context that the model was loaded with.
    virtual void forward(const StepInput& step, Ops& ops, state::FullKv& kv,
                         Activations& act) const = 0;
};

}  // namespace hearth::model
