// One step on the device.
#include "engine/serve/runner.h"

#include <utility>

#include "engine/base/check.h"

namespace hearth::serve {

Runner::Runner(Ops& ops, const model::Model& model, state::FullKv kv,
               model::Activations activations)
    : ops_(&ops), model_(&model), kv_(std::move(kv)), activations_(std::move(activations)) {}

Result<Runner> Runner::make(Ops& ops, const model::Model& model, const RunnerOptions& options) {
    const KvShape shape = model.kv_shape(options.key_type, options.value_type, options.pages);
    HEARTH_TRY(state::FullKv kv, state::FullKv::make(ops, shape));
    HEARTH_TRY(model::Activations activations,
               model::Activations::make(ops, model.config(), options.limits));
    return Runner(ops, model, std::move(kv), std::move(activations));
}

Result<void> Runner::step(std::span<const StepPart> parts) {
    tokens_.clear();
    sampled_.clear();
    rows_.clear();
    std::vector<state::PageCopy> copies;
    for (const StepPart& part : parts) {
        const int count = static_cast<int>(part.tokens.size());
        HEARTH_CHECK(part.sequence->reserve(count, copies));
        // Nothing here forks a sequence, so no page has two writers.
        HEARTH_CHECK(copies.empty() && part.sampled <= count);
        rows_.push_back({.first_row = static_cast<int>(tokens_.size()),
                         .rows = count,
                         .context = part.sequence->committed(),
                         .pages = part.sequence->pages()});
        tokens_.insert(tokens_.end(), part.tokens.begin(), part.tokens.end());
        for (int i = part.sampled; i > 0; --i)
            sampled_.push_back(static_cast<std::int32_t>(tokens_.size()) - i);
    }
    const StepInput input{.tokens = tokens_, .sequences = rows_, .sampled_rows = sampled_};
    ops_->begin_step(input);
    model_->forward(input, *ops_, kv_, activations_);
    const Result<void> finished = ops_->finish();
    for (const StepPart& part : parts)
        part.sequence->commit(finished ? static_cast<int>(part.tokens.size()) : 0);
    if (!finished) return finished;
    const auto vocabulary = static_cast<std::size_t>(model_->config().vocabulary);
    logits_.resize(sampled_.size() * vocabulary);
    if (!sampled_.empty())
        ops_->read(activations_.logits.view.first_rows(static_cast<int>(sampled_.size())), logits_);
    return {};
}

std::span<const float> Runner::logits(int row) const {
    const auto vocabulary = static_cast<std::size_t>(model_->config().vocabulary);
    return std::span(logits_).subspan(static_cast<std::size_t>(row) * vocabulary, vocabulary);
}

}  // namespace hearth::serve
