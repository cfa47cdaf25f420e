// The loop of thread "hearth-engine".
#include "engine/serve/engine_loop.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace hearth::serve {

namespace {

Candidate candidate(const auto& sequence, std::uint64_t step) {
    constexpr std::uint64_t kMost = 1U << 30U;
    return {.id = sequence.job.id,
            .priority = sequence.job.priority,
            .client = sequence.job.client,
            .arrival = sequence.arrival,
            .known = static_cast<int>(sequence.job.ids.size()),
            .computed = sequence.state.committed(),
            .draft = 0,
            .waited = static_cast<int>(std::min(step - sequence.last_step, kMost))};
}

std::vector<Candidate> candidates(const auto& sequences, std::uint64_t step) {
    std::vector<Candidate> result;
    for (const auto& sequence : sequences) result.push_back(candidate(*sequence, step));
    return result;
}

auto find(auto& sequences, SequenceId id) {
    return std::find_if(sequences.begin(), sequences.end(),
                        [id](const auto& sequence) { return sequence->job.id == id; });
}

}  // namespace

// Each active job may have one submit and one cancel in the inbox, so that these always fit.
EngineLoop::EngineLoop(Runner& runner, int vocabulary, const LoopOptions& options)
    : runner_(runner),
      options_(options),
      sampler_(vocabulary),
      inbox_(2 * static_cast<std::size_t>(options.sequences + options.waiting)) {
    HEARTH_CHECK(options.sequences > 0 && options.sequences <= options.step_rows);
    HEARTH_CHECK(options.prompt_rows > 0 && options.prompt_rows <= options.step_rows);
    HEARTH_CHECK(state::page_count(options.context) <= runner.pages().total());
    publish_stats();
    thread_ = std::thread([this] { run(); });
}

EngineLoop::~EngineLoop() {
    inbox_.close();
    thread_.join();
}

Result<void> EngineLoop::submit(Job job) {
    HEARTH_CHECK(!job.ids.empty() && static_cast<int>(job.ids.size()) < options_.context);
    const std::uint64_t id = job.id;
    const std::lock_guard lock(
        mutex_);  // kept until the job is in the inbox: no cancel overtakes it
    if (active_.size() >= static_cast<std::size_t>(options_.sequences + options_.waiting))
        return Error{ErrorCode::busy, "the model has " + std::to_string(active_.size()) +
                                          " requests already; try again later"};
    if (!active_.emplace(id, false).second)
        return Error{ErrorCode::bad_input,
                     "a generation with the number " + std::to_string(id) + " is running"};
    if (inbox_.put(Command(std::move(job)))) return {};
    active_.erase(id);
    return Error{ErrorCode::shutting_down, "the engine is stopping"};
}

void EngineLoop::cancel(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = active_.find(id);
    if (found == active_.end() || found->second) return;
    found->second = true;
    inbox_.put(Command(Cancel{id}));
}

LoopStats EngineLoop::stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
}

void EngineLoop::run() {
    pthread_setname_np(pthread_self(), "hearth-engine");
    while (!inbox_.closed()) {
        const bool is_idle = waiting_.empty() && running_.empty();
        if (is_idle) HEARTH_CHECK(runner_.pages().free() == runner_.pages().total());
        for (Command& command : inbox_.take_all(is_idle)) apply(std::move(command));
        if (!waiting_.empty() || !running_.empty()) run_step();
        publish_stats();
    }
    for (Command& command : inbox_.take_all(false)) apply(std::move(command));
    end_all({ErrorCode::cancelled, "the engine is stopping"});
}

void EngineLoop::apply(Command command) {
    if (const auto* cancel = std::get_if<Cancel>(&command)) {
        end(cancel->id, Error{ErrorCode::cancelled, "the caller cancelled the generation"});
        return;
    }
    auto sequence =
        std::make_unique<Sequence>(Sequence{.job = std::get<Job>(std::move(command)),
                                            .state = state::SequenceState(runner_.pages()),
                                            .arrival = arrivals_++,
                                            .last_step = counted_.steps});
    Sequence& added = *waiting_.emplace_back(std::move(sequence));
    if (!added.job.sink->on_accepted()) end(added.job.id, {});
}

void EngineLoop::run_step() {
    const Decision decision =
        schedule(candidates(waiting_, counted_.steps), candidates(running_, counted_.steps),
                 {.rows = options_.step_rows,
                  .prompt_rows = options_.prompt_rows,
                  .sequences = options_.sequences,
                  .pages_total = runner_.pages().total(),
                  .pages_free = runner_.pages().free()});
    move_sequences(decision);
    if (decision.batch.empty()) return;
    std::vector<StepPart> parts;
    for (const Part& part : decision.batch) {
        Sequence& sequence = running(part.id);
        const int computed = sequence.state.committed();
        sequence.last_step = counted_.steps;
        const std::span<const std::int32_t> ids(sequence.job.ids);
        const bool is_last = computed + part.rows == static_cast<int>(ids.size());
        parts.push_back({.sequence = &sequence.state,
                         .tokens = ids.subspan(static_cast<std::size_t>(computed),
                                               static_cast<std::size_t>(part.rows)),
                         .sampled = is_last ? 1 : 0});
        counted_.prompt_tokens +=
            static_cast<std::uint64_t>(std::clamp(sequence.job.prompt - computed, 0, part.rows));
    }
    ++counted_.steps;
    if (const auto result = runner_.step(parts); !result) {
        for (const Part& part : decision.batch) end(part.id, result);
        return;
    }
    sample_step(decision.batch);
}

void EngineLoop::move_sequences(const Decision& decision) {
    for (const SequenceId id : decision.preempted) {
        const auto found = find(running_, id);
        (*found)->state.clear();
        waiting_.push_back(std::move(*found));
        running_.erase(found);
        ++counted_.preemptions;
    }
    for (const SequenceId id : decision.rejected)
        end(id, Error{ErrorCode::no_memory,
                      "the prompt needs more memory for keys and values than the model has; raise "
                      "the memory limit or shorten the prompt"});
    for (const SequenceId id : decision.admitted) {
        const auto found = find(waiting_, id);
        Sequence& sequence = *running_.emplace_back(std::move(*found));
        waiting_.erase(found);
        if (!std::exchange(sequence.was_started, true)) sequence.job.sink->on_started();
    }
}

void EngineLoop::sample_step(const std::vector<Part>& batch) {
    int row = 0;
    for (const Part& part : batch) {
        Sequence& sequence = running(part.id);
        const bool has_logits =
            sequence.state.committed() == static_cast<int>(sequence.job.ids.size());
        if (has_logits && !sample_one(sequence, row++)) end(part.id, {});
    }
}

// False: the sequence has ended well. A failed one is ended here.
bool EngineLoop::sample_one(Sequence& sequence, int row) {
    Job& job = sequence.job;
    const std::span<const std::int32_t> ids(job.ids);
    const auto prompt = static_cast<std::size_t>(job.prompt);
    const sample::Inputs inputs{.logits = runner_.logits(row),
                                .mask = {},
                                .prompt = ids.first(prompt),
                                .generated = ids.subspan(prompt)};
    const Result<sample::Picked> picked = sampler_.pick(job.sampling, inputs, job.logprobs);
    if (!picked) {
        end(job.id, picked.error());
        return true;
    }
    ++counted_.generated_tokens;
    job.ids.push_back(picked->id);
    const bool goes_on = job.sink->on_token(*picked);
    HEARTH_CHECK(!goes_on || static_cast<int>(job.ids.size()) < options_.context);
    return goes_on;
}

void EngineLoop::end(std::uint64_t id, Result<void> result) {
    std::unique_ptr<Sequence> ended;
    for (Sequences* sequences : {&waiting_, &running_}) {
        const auto found = find(*sequences, id);
        if (found == sequences->end()) continue;
        ended = std::move(*found);
        sequences->erase(found);
        break;
    }
    if (!ended) return;  // a cancel that came after the end
    ended->state.clear();
    {
        const std::lock_guard lock(mutex_);
        active_.erase(id);
    }
    publish_stats();
    ended->job.sink->on_end(std::move(result));
}

void EngineLoop::end_all(const Error& error) {
    while (!waiting_.empty()) end(waiting_.back()->job.id, error);
    while (!running_.empty()) end(running_.back()->job.id, error);
}

EngineLoop::Sequence& EngineLoop::running(SequenceId id) {
    const auto found = find(running_, id);
    HEARTH_CHECK(found != running_.end());
    return **found;
}

void EngineLoop::publish_stats() {
    counted_.running = static_cast<int>(running_.size());
    counted_.waiting = static_cast<int>(waiting_.size());
    counted_.pages_free = runner_.pages().free();
    counted_.pages_total = runner_.pages().total();
    const std::lock_guard lock(mutex_);
    stats_ = counted_;
}

}  // namespace hearth::serve
