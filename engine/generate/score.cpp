// One sequence in steps whose logits are all read.
#include "engine/generate/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "engine/generate/prompt.h"
#include "engine/serve/runner.h"

namespace hearth::generate {

namespace {

// Rows of one step: enough to read each weight once for many, few enough that their logits stay
// small (64 rows of 150,000 tokens are 38 MiB).
constexpr int kRows = 64;
constexpr int kMaxTop = 1000;

struct Normalizer {
    double max;
    double log_total;
    double logprob(float logit) const { return static_cast<double>(logit) - max - log_total; }
};

// Not finite when a logit is not.
Normalizer normalize(std::span<const float> logits) {
    const auto max = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
    double total = 0;
    for (const float logit : logits) total += std::exp(static_cast<double>(logit) - max);
    return {.max = max, .log_total = std::log(total)};
}

void add_top(std::span<const float> logits, const Normalizer& normalizer, int count,
             ScoreReport& report) {
    std::vector<std::int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto better = [&](std::int32_t a, std::int32_t b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    };
    const auto kept = std::min(ids.size(), static_cast<std::size_t>(count));
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(kept);
    if (kept < ids.size()) std::nth_element(ids.begin(), end, ids.end(), better);
    std::sort(ids.begin(), end, better);
    ids.resize(kept);
    std::vector<double>& logprobs = report.top_logprobs.emplace_back();
    for (const std::int32_t id : ids)
        logprobs.push_back(normalizer.logprob(logits[static_cast<std::size_t>(id)]));
    report.top_ids.push_back(std::move(ids));
}

Result<void> add_position(std::span<const std::int32_t> ids, std::size_t position,
                          std::span<const float> logits, int top, ScoreReport& report) {
    const Normalizer normalizer = normalize(logits);
    if (!std::isfinite(normalizer.max) || !std::isfinite(normalizer.log_total))
        return Error{ErrorCode::numeric_error,
                     "the logits after token " + std::to_string(position) +
                         " are not finite numbers; the model's weights may be damaged"};
    if (position + 1 < ids.size())
        report.next_logprob.push_back(
            normalizer.logprob(logits[static_cast<std::size_t>(ids[position + 1])]));
    if (top > 0) add_top(logits, normalizer, top, report);
    return {};
}

Result<void> check(const LoadedModel& model, std::span<const std::int32_t> ids,
                   const ScoreOptions& options) {
    if (ids.size() < 2)
        return Error{ErrorCode::bad_input, "at least two tokens are needed to score a text"};
    if (options.top < 0 || options.top > kMaxTop)
        return Error{ErrorCode::bad_input, "top must be from 0 to 1000"};
    if (ids.size() > static_cast<std::size_t>(model.info.context))
        return Error{ErrorCode::context_exceeded, "the text has " + std::to_string(ids.size()) +
                                                      " tokens, but the context holds " +
                                                      std::to_string(model.info.context)};
    return check_ids(model, {ids.begin(), ids.end()});
}

}  // namespace

Result<ScoreReport> score(const LoadedModel& model, std::span<const std::int32_t> ids,
                          const ScoreOptions& options) {
    HEARTH_TRY_VOID(check(model, ids, options));
    HEARTH_TRY(serve::Runner runner,
               serve::Runner::make(*model.ops, *model.model,
                                   {.limits = {.rows = kRows, .sampled = kRows},
                                    .key_type = options.key_type,
                                    .value_type = options.value_type,
                                    .pages = state::page_count(static_cast<int>(ids.size()))}));
    state::SequenceState sequence(runner.pages());
    ScoreReport report;
    for (std::size_t first = 0; first < ids.size(); first += kRows) {
        const auto some = ids.subspan(first, std::min<std::size_t>(kRows, ids.size() - first));
        const serve::StepPart part{
            .sequence = &sequence, .tokens = some, .sampled = static_cast<int>(some.size())};
        HEARTH_TRY_VOID(runner.step({&part, 1}));
        for (std::size_t i = 0; i < some.size(); ++i)
            HEARTH_TRY_VOID(add_position(ids, first + i, runner.logits(static_cast<int>(i)),
                                         options.top, report));
    }
    const double sum = std::accumulate(report.next_logprob.begin(), report.next_logprob.end(), 0.0);
    report.perplexity = std::exp(-sum / static_cast<double>(report.next_logprob.size()));
    return report;
}

}  // namespace hearth::generate
