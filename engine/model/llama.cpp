// Llama 2 and 3, Mistral, SmolLM2: grouped-query attention with rotary positions, and a gated
// feed-forward part.
#include <memory>
#include <utility>

#include "engine/model/families.h"
#include "engine/model/parts.h"

namespace hearth::model {

namespace {

class Llama final : public Model {
public:
    Llama(ModelConfig config, BoundWeights bound, RopeTable rope)
        : config_(std::move(config)),
          weights_(std::move(bound.weights)),
          summary_(bound.summary),
          rope_(std::move(rope)) {}

    const ModelConfig& config() const override { return config_; }
    const WeightSummary& summary() const override { return summary_; }
    void forward(const StepInput& step, Ops& ops, state::FullKv& kv,
                 Activations& act) const override;

private:
    ModelConfig config_;
    ModelWeights weights_;
    WeightSummary summary_;
    RopeTable rope_;
};

void Llama::forward(const StepInput& step, Ops& ops, state::FullKv& kv, Activations& act) const {
    const int rows = static_cast<int>(step.tokens.size());
    const View x = act.x.view.first_rows(rows);  // [rows, width]
    const View qkv = act.qkv.view.first_rows(rows);
    const View q = qkv.columns(0, config_.q_width());
    const View mixed = act.mixed.view.first_rows(rows);
    const View gated = act.gated.view.first_rows(rows);
    const AttentionConfig attention = config_.attention();

    ops.embed(weights_.embedding, x);

    for (int i = 0; i < config_.layers; ++i) {
        const LayerWeights& w = weights_.layers[static_cast<std::size_t>(i)];
        const Norm attention_norm{w.attention_norm.view, config_.norm_eps};
        const Norm ffn_norm{w.ffn_norm.view, config_.norm_eps};

        project_normed(ops, attention_norm, w.qkv, x, qkv);
        ops.rope_store(rope_, attention, kv.memory(), i, qkv);  // rotates q and k, stores k and v
        ops.attend(kv.memory(), i, attention, q, mixed);
        project_add(ops, w.out, mixed, x);  // back onto the residual

        project_gated(ops, ffn_norm, w.gate_up, x, gated);
        project_add(ops, w.down, gated, x);
    }

    const int sampled = static_cast<int>(step.sampled_rows.size());
    if (sampled == 0) return;  // the middle of a prompt
    const View last = act.last.view.first_rows(sampled);
    ops.gather_rows(x, last);
    project_normed(ops, {weights_.final_norm.view, config_.norm_eps}, weights_.output(), last,
                   act.logits.view.first_rows(sampled));
}

}  // namespace

Result<std::unique_ptr<Model>> load_llama(Ops& ops, const gguf::File& file, int context) {
    HEARTH_TRY(ModelConfig config, read_config(file));
    HEARTH_TRY(BoundWeights bound, bind_weights(ops, file, config));
    const int positions = context > 0 ? context : config.trained_context;
    HEARTH_TRY(RopeTable rope, RopeTable::make(config.rope, positions));
    return std::unique_ptr<Model>(
        std::make_unique<Llama>(std::move(config), std::move(bound), std::move(rope)));
}

}  // namespace hearth::model
