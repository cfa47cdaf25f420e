// The filters in their order. Selection never sorts the vocabulary: it keeps a short list and a
// threshold.
#include "engine/sample/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/ops/math.h"
#include "engine/sample/random.h"
#include "engine/sample/softmax.h"

namespace hearth::sample {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Descending, lower ids first among equals.
constexpr auto comes_first = [](const auto& a, const auto& b) {
    return a.z != b.z ? a.z > b.z : a.id < b.id;
};

bool has_penalty(const Params& params) {
    return params.repetition_penalty != 1.0F || params.presence_penalty != 0.0F ||
           params.frequency_penalty != 0.0F;
}

std::int32_t first_of(std::span<const float> values, float wanted) {
    return static_cast<std::int32_t>(std::find(values.begin(), values.end(), wanted) -
                                     values.begin());
}

void apply_mask(std::span<const std::uint64_t> mask, std::span<float> logits) {
    HEARTH_CHECK(mask.size() * 64 >= logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (((mask[i / 64] >> (i % 64)) & 1U) == 0) logits[i] = kNever;
}

}  // namespace

Sampler::Sampler(int vocabulary)
    : adjusted_(static_cast<std::size_t>(vocabulary)),
      weights_(static_cast<std::size_t>(vocabulary)),
      block_sums_(static_cast<std::size_t>(ceil_div(vocabulary, kSoftmaxBlock))),
      counts_(static_cast<std::size_t>(vocabulary), 0) {}

Result<Picked> Sampler::pick(const Params& params, const Inputs& inputs, int logprobs) {
    HEARTH_CHECK(inputs.logits.size() == adjusted_.size() && !adjusted_.empty());
    const Extent raw = extent(inputs.logits);
    if (!raw.is_finite)
        return Error{
            ErrorCode::numeric_error,
            "the model gave a logit that is not a finite number; its weights may be damaged"};
    const std::span<const float> adjusted = adjust(params, inputs);
    const float max = adjusted.data() == inputs.logits.data() ? raw.max : extent(adjusted).max;
    if (max == kNever) return Error{ErrorCode::bad_input, "the mask allows no token"};

    Picked picked;
    if (params.temperature < kGreedyTemperature) {
        picked.id = first_of(adjusted, max);
    } else {
        const auto position =
            static_cast<std::uint32_t>(inputs.prompt.size() + inputs.generated.size());
        const double unit = random_unit({params.seed, params.choice, position});
        for (std::size_t i = 0; i < adjusted.size(); ++i)
            adjusted_[i] = adjusted[i] / params.temperature;
        const float max_z = max / params.temperature;
        const bool is_sorted = params.top_k > 0 || params.top_p < 1.0F;
        picked.id =
            is_sorted ? walk_candidates(params, unit, max_z) : walk_all(params.min_p, unit, max_z);
    }
    if (logprobs >= 0) add_logprobs(inputs.logits, raw.max, logprobs, picked);
    return picked;
}

// The logits themselves when nothing changes them.
std::span<const float> Sampler::adjust(const Params& params, const Inputs& inputs) {
    if (inputs.mask.empty() && params.logit_bias.empty() && !has_penalty(params))
        return inputs.logits;
    std::copy(inputs.logits.begin(), inputs.logits.end(), adjusted_.begin());
    if (!inputs.mask.empty()) apply_mask(inputs.mask, adjusted_);
    for (const auto& [token, bias] : params.logit_bias)
        adjusted_[static_cast<std::size_t>(token)] += bias;
    if (has_penalty(params)) apply_penalties(params, inputs);
    return adjusted_;
}

void Sampler::apply_penalties(const Params& params, const Inputs& inputs) {
    // A seen token counts once for repetition: its first occurrence marks it.
    const auto penalize_repetition = [&](std::span<const std::int32_t> ids) {
        for (const std::int32_t id : ids) {
            const auto i = static_cast<std::size_t>(id);
            if (counts_[i]++ > 0) continue;
            adjusted_[i] = adjusted_[i] > 0 ? adjusted_[i] / params.repetition_penalty
                                            : adjusted_[i] * params.repetition_penalty;
        }
    };
    const auto forget = [&](std::span<const std::int32_t> ids) {
        for (const std::int32_t id : ids) counts_[static_cast<std::size_t>(id)] = 0;
    };
    if (params.repetition_penalty != 1.0F) {
        penalize_repetition(inputs.prompt);
        penalize_repetition(inputs.generated);
        forget(inputs.prompt);
        forget(inputs.generated);
    }
    if (params.presence_penalty == 0.0F && params.frequency_penalty == 0.0F) return;
    for (const std::int32_t id : inputs.generated) ++counts_[static_cast<std::size_t>(id)];
    for (const std::int32_t id : inputs.generated) {
        const auto i = static_cast<std::size_t>(id);
        if (counts_[i] == 0) continue;
        adjusted_[i] -=
            params.presence_penalty + static_cast<float>(counts_[i]) * params.frequency_penalty;
        counts_[i] = 0;
    }
}

// Every token, by ascending id: whole blocks first, then inside the block where the draw falls.
std::int32_t Sampler::walk_all(float min_p, double unit, float max) {
    exp_blocks(adjusted_, max, weights_, block_sums_);
    if (min_p > 0.0F) {
        for (std::size_t b = 0; b < block_sums_.size(); ++b) block_sums_[b] = 0.0F;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            if (weights_[i] < min_p) weights_[i] = 0.0F;
            block_sums_[i / kSoftmaxBlock] += weights_[i];
        }
    }
    double total = 0;
    for (const float sum : block_sums_) total += static_cast<double>(sum);
    double left = unit * total;
    std::size_t block = 0;
    std::size_t last_block =
        0;  // the last one that weighs anything, should rounding carry us past the end
    for (; block < block_sums_.size(); ++block) {
        const auto sum = static_cast<double>(block_sums_[block]);
        if (sum > 0) last_block = block;
        if (left < sum) break;
        left -= sum;
    }
    if (block == block_sums_.size()) block = last_block;
    const std::size_t first = block * kSoftmaxBlock;
    const std::size_t end = std::min(first + kSoftmaxBlock, weights_.size());
    std::size_t pick = first;
    for (std::size_t i = first; i < end; ++i) {
        if (weights_[i] <= 0.0F) continue;
        pick = i;
        left -= static_cast<double>(weights_[i]);
        if (left < 0) break;
    }
    return static_cast<std::int32_t>(pick);
}

std::int32_t Sampler::walk_candidates(const Params& params, double unit, float max) {
    if (params.top_k > 0) {
        select(adjusted_, params.top_k);
        double total = 0;
        for (Candidate& c : candidates_) {
            c.weight = exp_f32(c.z - max);
            total += static_cast<double>(c.weight);
        }
        if (params.top_p < 1.0F) cut_to_nucleus(static_cast<double>(params.top_p) * total);
    } else {
        select_nucleus(params.top_p, max);
    }
    std::size_t kept = 1;
    while (kept < candidates_.size() && candidates_[kept].weight >= params.min_p) ++kept;
    candidates_.resize(kept);
    double total = 0;
    for (const Candidate& c : candidates_) total += static_cast<double>(c.weight);
    double left = unit * total;
    for (const Candidate& c : candidates_) {
        left -= static_cast<double>(c.weight);
        if (left < 0) return c.id;
    }
    return candidates_.back().id;
}

// Shortens candidates_ to the shortest run that weighs `wanted`, when there is one.
void Sampler::cut_to_nucleus(double wanted) {
    double sum = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        sum += static_cast<double>(candidates_[i].weight);
        if (sum < wanted) continue;
        candidates_.resize(i + 1);
        return;
    }
}

// The nucleus of the whole vocabulary. Weights are summed by their power of two first, which tells
// how small a weight can still be part of it: only tokens of that size are sorted.
void Sampler::select_nucleus(float top_p, float max) {
    exp_blocks(adjusted_, max, weights_, block_sums_);
    const auto exponent = [](float weight) { return std::bit_cast<std::uint32_t>(weight) >> 23U; };
    std::array<double, 128> by_exponent{};  // weights are at most 1, whose biased exponent is 127
    double total = 0;
    for (const float weight : weights_) {
        by_exponent[exponent(weight)] += static_cast<double>(weight);
        total += static_cast<double>(weight);
    }
    const double wanted = static_cast<double>(top_p) * total;
    std::uint32_t smallest = 127;
    for (double sum = by_exponent[smallest]; sum < wanted && smallest > 0;)
        sum += by_exponent[--smallest];
    candidates_.clear();
    for (std::size_t i = 0; i < weights_.size(); ++i)
        if (exponent(weights_[i]) >= smallest && adjusted_[i] != kNever)
            candidates_.push_back(
                {.z = adjusted_[i], .id = static_cast<std::int32_t>(i), .weight = weights_[i]});
    std::sort(candidates_.begin(), candidates_.end(), comes_first);
    cut_to_nucleus(wanted);
}

// The `count` largest values in descending order, lower ids first among equals; never -infinity.
void Sampler::select(std::span<const float> values, int count) {
    const auto wanted = static_cast<std::size_t>(count);
    const auto shrink = [&] {
        if (candidates_.size() <= wanted) return;
        std::nth_element(candidates_.begin(), candidates_.begin() + count, candidates_.end(),
                         comes_first);
        candidates_.resize(wanted);
    };
    candidates_.clear();
    float threshold =
        kNever;  // later ids must be above it: among equals the lower id is already in
    const std::size_t room = 2 * wanted + 64;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] > threshold)) continue;
        candidates_.push_back({.z = values[i], .id = static_cast<std::int32_t>(i), .weight = 0});
        if (candidates_.size() < room) continue;
        shrink();
        threshold =
            std::min_element(candidates_.begin(), candidates_.end(),
                             [](const Candidate& a, const Candidate& b) { return a.z < b.z; })
                ->z;
    }
    shrink();
    std::sort(candidates_.begin(), candidates_.end(), comes_first);
}

void Sampler::add_logprobs(std::span<const float> logits, float max, int count, Picked& picked) {
    exp_blocks(logits, max, weights_, block_sums_);
    double total = 0;
    for (const float sum : block_sums_) total += static_cast<double>(sum);
    const double log_total = std::log(total);
    const auto logprob = [&](std::int32_t id) {
        const float above = logits[static_cast<std::size_t>(id)] - max;
        return static_cast<float>(static_cast<double>(above) - log_total);
    };
    picked.logprob = logprob(picked.id);
    if (count == 0) return;
    select(logits, std::min(count, static_cast<int>(logits.size())));
    for (const Candidate& c : candidates_) picked.top.push_back({c.id, logprob(c.id)});
}

}  // namespace hearth::sample
