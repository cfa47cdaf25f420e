// Runs a model for tests.
#include "tests/support/tiny_model.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/families.h"

namespace hearth::testing {

namespace {
template <typename T>
T must(Result<T> result) {
    if (!result) std::cerr << result.error().message << "\n";
    return std::move(result).value();
}
}  // namespace

TinyModel::TinyModel(std::unique_ptr<Ops> ops, const std::string& path, TinyOptions options)
    : ops_(std::move(ops)) {
    const MappedFile mapped = must(MappedFile::open(path));
    const gguf::File file = must(gguf::File::read(mapped.bytes()));
    model_ = must(model::load(*ops_, file, 0));
    const KvShape shape = model_->kv_shape(options.kv_type, options.kv_type, options.pages);
    kv_ = std::make_unique<state::FullKv>(must(state::FullKv::make(*ops_, shape)));
    activations_ = must(model::Activations::make(*ops_, model_->config(),
                                                 {.rows = options.rows, .sampled = options.rows}));
}

std::vector<float> TinyModel::step(std::span<const Part> parts) {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> sampled;
    std::vector<SequenceRows> rows;
    std::vector<state::PageCopy> copies;
    for (const Part& part : parts) {
        const int count = static_cast<int>(part.ids.size());
        HEARTH_CHECK(part.sequence->reserve(count, copies) && copies.empty());
        rows.push_back({.first_row = static_cast<int>(tokens.size()),
                        .rows = count,
                        .context = part.sequence->committed(),
                        .pages = part.sequence->pages()});
        tokens.insert(tokens.end(), part.ids.begin(), part.ids.end());
    }
    for (int i = 0; i < static_cast<int>(tokens.size()); ++i) sampled.push_back(i);
    const StepInput input{.tokens = tokens, .sequences = rows, .sampled_rows = sampled};
    ops_->begin_step(input);
    model_->forward(input, *ops_, *kv_, activations_);
    HEARTH_CHECK(ops_->finish().has_value());
    const auto vocabulary = static_cast<std::size_t>(model_->config().vocabulary);
    std::vector<float> logits(tokens.size() * vocabulary);
    ops_->read(activations_.logits.view.first_rows(static_cast<int>(tokens.size())), logits);
    for (const Part& part : parts) part.sequence->commit(static_cast<int>(part.ids.size()));
    return logits;
}

std::vector<float> TinyModel::logits(std::span<const std::int32_t> ids, int chunk) {
    state::SequenceState sequence(kv_->pages());
    std::vector<float> all;
    const auto size = static_cast<std::size_t>(chunk);
    for (std::size_t first = 0; first < ids.size(); first += size) {
        const Part part{&sequence, ids.subspan(first, std::min(size, ids.size() - first))};
        const std::vector<float> some = step({&part, 1});
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace hearth::testing
