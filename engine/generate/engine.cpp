// The door: prompts go in on the caller's thread, events come out on thread "hearth-engine".
#include "engine/generate/engine.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/generate/generation.h"
#include "engine/generate/load.h"
#include "engine/generate/prompt.h"
#include "engine/serve/engine_loop.h"

namespace hearth {

namespace {

using generate::LoadedModel;

constexpr std::size_t kMaxStops = 64;
constexpr std::size_t kMaxStopBytes = 4096;

serve::Class class_of(Priority priority) {
    switch (priority) {
        case Priority::interactive:
            return serve::Class::interactive;
        case Priority::api:
            return serve::Class::api;
        case Priority::background:
            return serve::Class::background;
    }
    return serve::Class::api;
}

Result<void> check_limits(const GenerateRequest& request, int vocabulary) {
    HEARTH_TRY_VOID(sample::validate(request.sampling, vocabulary));
    const auto refuse = [](const std::string& what) { return Error{ErrorCode::bad_input, what}; };
    if (request.max_tokens < -1 || request.max_tokens == 0)
        return refuse("max_tokens must be at least 1, or -1 for no limit");
    if (request.logprobs < -1 || request.logprobs > vocabulary)
        return refuse("logprobs must be from 0 to the size of the vocabulary");
    if (request.stop.size() > kMaxStops) return refuse("at most 64 stop strings are allowed");
    for (const std::string& stop : request.stop)
        if (stop.size() > kMaxStopBytes) return refuse("a stop string may have at most 4096 bytes");
    return {};
}

class ModelEngine final : public Engine {
public:
    ModelEngine(LoadedModel loaded, serve::Runner runner, const EngineOptions& options)
        : loaded_(std::move(loaded)),
          runner_(std::move(runner)),
          loop_(runner_, loaded_.info.vocabulary, loop_options(options, loaded_.info)) {}

    const ModelInfo& info() const override { return loaded_.info; }
    const text::Tokenizer& tokenizer() const override { return loaded_.tokenizer; }
    Result<MarkedText> render(const chat::Value& variables) const override {
        return generate::render_chat(loaded_, variables);
    }
    Result<PromptTokens> tokenize(const Prompt& prompt,
                                  std::optional<bool> add_bos) const override {
        return generate::tokenize(loaded_, prompt, add_bos);
    }
    EngineStats stats() const override;
    Result<void> submit(std::uint64_t generation, GenerateRequest request,
                        EventSink& sink) override;
    void cancel(std::uint64_t generation) override { loop_.cancel(generation); }

private:
    static serve::LoopOptions loop_options(const EngineOptions& options, const ModelInfo& info) {
        serve::LoopOptions loop;
        loop.step_rows = options.step_tokens;
        loop.prompt_rows = std::min(loop.prompt_rows, options.step_tokens);
        loop.sequences = options.max_sequences;
        loop.waiting = options.max_waiting;
        loop.context = info.context;
        return loop;
    }

    LoadedModel loaded_;
    serve::Runner runner_;
    serve::EngineLoop loop_;  // last: its thread uses the others
};

EngineStats ModelEngine::stats() const {
    const serve::LoopStats stats = loop_.stats();
    return {.running = stats.running,
            .waiting = stats.waiting,
            .pages_free = stats.pages_free,
            .pages_total = stats.pages_total,
            .steps = stats.steps,
            .prompt_tokens = stats.prompt_tokens,
            .generated_tokens = stats.generated_tokens};
}

Result<void> ModelEngine::submit(std::uint64_t generation, GenerateRequest request,
                                 EventSink& sink) {
    HEARTH_TRY_VOID(check_limits(request, loaded_.info.vocabulary));
    HEARTH_TRY(std::vector<std::int32_t> prompt, generate::prompt_ids(loaded_, request.prompt));
    HEARTH_TRY_VOID(generate::check_ids(loaded_, request.generated));
    const int context = loaded_.info.context;
    if (prompt.size() >= static_cast<std::size_t>(context))
        return Error{ErrorCode::context_exceeded,
                     "the prompt has " + std::to_string(prompt.size()) +
                         " tokens, but the context holds " + std::to_string(context) +
                         " for prompt and answer; shorten the prompt"};
    const int room = context - static_cast<int>(prompt.size());
    const int limit = request.max_tokens < 0 ? room : std::min(room, request.max_tokens);

    serve::Job job;
    job.id = generation;
    job.ids = prompt;
    job.prompt = static_cast<int>(prompt.size());
    job.sampling = std::move(request.sampling);
    job.logprobs = request.logprobs;
    job.priority = class_of(request.priority);
    job.client = std::hash<std::string>()(request.client);
    // An answer that has reached its limit is only finished: its ids need not fit.
    if (request.generated.size() < static_cast<std::size_t>(limit))
        job.ids.insert(job.ids.end(), request.generated.begin(), request.generated.end());
    job.sink = std::make_unique<generate::Generation>(
        loaded_.tokenizer, sink,
        generate::GenerationPlan{.number = generation,
                                 .prompt = std::move(prompt),
                                 .generated = std::move(request.generated),
                                 .limit = limit,
                                 .stop = std::move(request.stop),
                                 .logprobs = request.logprobs,
                                 .ignore_end = request.ignore_end});
    return loop_.submit(std::move(job));
}

}  // namespace

Result<std::unique_ptr<Engine>> generate::make_engine(LoadedModel loaded,
                                                      const EngineOptions& options) {
    HEARTH_TRY(serve::Runner runner,
               serve::Runner::make(
                   *loaded.ops, *loaded.model,
                   {.limits = {.rows = options.step_tokens, .sampled = options.max_sequences},
                    .key_type = options.key_type,
                    .value_type = options.value_type,
                    .pages = loaded.pages}));
    return std::unique_ptr<Engine>(
        std::make_unique<ModelEngine>(std::move(loaded), std::move(runner), options));
}

}  // namespace hearth
