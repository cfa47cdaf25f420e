// Allocates the scratch of a step.
#include "engine/model/activations.h"

namespace hearth::model {

Result<Activations> Activations::make(Ops& ops, const ModelConfig& config, StepLimits limits) {
    Activations act;
    HEARTH_TRY(act.x, ops.allocate(limits.rows, config.width));
    HEARTH_TRY(act.qkv, ops.allocate(limits.rows, config.q_width() + 2 * config.kv_width()));
    HEARTH_TRY(act.mixed, ops.allocate(limits.rows, config.q_width()));
    HEARTH_TRY(act.gated, ops.allocate(limits.rows, config.ffn_width));
    HEARTH_TRY(act.last, ops.allocate(limits.sampled, config.width));
    HEARTH_TRY(act.logits, ops.allocate(limits.sampled, config.vocabulary));
    return act;
}

}  // namespace hearth::model
