// Timed runs on one sequence.
#include "engine/generate/bench.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "engine/sample/random.h"
#include "engine/serve/runner.h"

namespace hearth::generate {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Bench {
public:
    Bench(const LoadedModel& model, const BenchOptions& options, serve::Runner& runner)
        : options_(options), runner_(runner), sequence_(runner.pages()) {
        const int most = options.depth + std::max(options.prompt, options.generation);
        const auto vocabulary = static_cast<std::uint64_t>(model.info.vocabulary);
        for (int i = 0; i < most; ++i)
            ids_.push_back(static_cast<std::int32_t>(
                sample::random_bits(
                    {.seed = 1, .choice = 0, .position = static_cast<std::uint32_t>(i)}) %
                vocabulary));
    }

    Result<double> prompt() {
        HEARTH_TRY_VOID(go_to_depth());
        const Clock::time_point start = Clock::now();
        HEARTH_TRY_VOID(read(options_.prompt, options_.step_tokens));
        return seconds_since(start);
    }
    Result<double> generation() {
        HEARTH_TRY_VOID(go_to_depth());
        const Clock::time_point start = Clock::now();
        HEARTH_TRY_VOID(read(options_.generation, 1));
        return seconds_since(start);
    }

private:
    Result<void> go_to_depth() {
        sequence_.truncate(options_.depth);
        return read(options_.depth - sequence_.committed(), options_.step_tokens);
    }
    // The next `count` ids; logits of the last row of each step.
    Result<void> read(int count, int step) {
        const std::span<const std::int32_t> ids(ids_);
        for (int done = 0; done < count;) {
            const int rows = std::min(step, count - done);
            const auto first = static_cast<std::size_t>(sequence_.committed());
            const serve::StepPart part{.sequence = &sequence_,
                                       .tokens = ids.subspan(first, static_cast<std::size_t>(rows)),
                                       .sampled = 1};
            HEARTH_TRY_VOID(runner_.step({&part, 1}));
            done += rows;
        }
        return {};
    }

    const BenchOptions& options_;
    serve::Runner& runner_;
    state::SequenceState sequence_;
    std::vector<std::int32_t> ids_;
};

Result<void> check(const LoadedModel& model, const BenchOptions& options) {
    const auto refuse = [](const std::string& what) { return Error{ErrorCode::bad_input, what}; };
    if (options.prompt < 0 || options.generation < 0 || options.depth < 0)
        return refuse("numbers of tokens must not be negative");
    if (options.repetitions < 1 || options.repetitions > 1000)
        return refuse("repetitions must be from 1 to 1000");
    if (options.step_tokens < 1 || options.step_tokens > 65536)
        return refuse("step_tokens must be from 1 to 65536");
    const auto most =
        static_cast<std::int64_t>(options.depth) + std::max(options.prompt, options.generation);
    if (most > model.info.context)
        return Error{ErrorCode::context_exceeded, "the run needs " + std::to_string(most) +
                                                      " positions, but the context holds " +
                                                      std::to_string(model.info.context)};
    return {};
}

std::uint64_t bytes_per_token(const LoadedModel& model, const BenchOptions& options) {
    const auto positions = static_cast<std::uint64_t>(options.depth + options.generation / 2);
    return model.model->summary().streamed_bytes + positions * model.info.kv_bytes_per_token;
}

}  // namespace

Result<BenchReport> bench(const LoadedModel& model, const BenchOptions& options) {
    HEARTH_TRY_VOID(check(model, options));
    const int positions = options.depth + std::max(options.prompt, options.generation);
    HEARTH_TRY(serve::Runner runner,
               serve::Runner::make(*model.ops, *model.model,
                                   {.limits = {.rows = options.step_tokens, .sampled = 1},
                                    .key_type = options.key_type,
                                    .value_type = options.value_type,
                                    .pages = state::page_count(positions)}));
    Bench run(model, options, runner);
    BenchReport report;
    report.bytes_per_token = bytes_per_token(model, options);
    for (int i = 0; options.prompt > 0 && i <= options.repetitions; ++i) {
        HEARTH_TRY(const double seconds, run.prompt());
        if (i > 0) report.prompt_seconds.push_back(seconds);
    }
    for (int i = 0; options.generation > 0 && i <= options.repetitions; ++i) {
        HEARTH_TRY(const double seconds, run.generation());
        if (i > 0) report.generation_seconds.push_back(seconds);
    }
    return report;
}

}  // namespace hearth::generate
