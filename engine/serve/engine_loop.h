// The thread that runs a model: takes jobs from its inbox, asks the scheduler, runs a step,
// samples, tells the sinks. While nothing is to be done it waits in its inbox, which costs nothing.
//
// Invariant: only thread "hearth-engine" touches the scheduler's input, the runner and Ops.
// Invariant: ids only, no text. Invariant: every page is free or held by a sequence; counted
// whenever the loop is idle.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "engine/base/inbox.h"
#include "engine/serve/job.h"
#include "engine/serve/runner.h"

namespace hearth::serve {

struct LoopOptions {
    int step_rows = 512;  // most rows of one step
    // Most prompt rows of a step that also extends answers, which wait for it. SmolLM2-135M Q4_1 on
    // two AVX-512 threads reads 650 tokens/s in steps of 512 rows, 642 of 128, 619 of 64, 464 of 32
    // (bench.h; the machine was shared).
    int prompt_rows = 64;
    int sequences = 64;  // running at once
    int waiting = 256;   // beyond those that run; then submit answers busy
    int context = 0;     // most ids of one sequence; its pages must exist
};

struct LoopStats {
    int running = 0;
    int waiting = 0;
    int pages_free = 0;
    int pages_total = 0;
    std::uint64_t steps = 0;
    std::uint64_t prompt_tokens = 0;     // computed, those of preempted sequences each time
    std::uint64_t generated_tokens = 0;  // sampled
    std::uint64_t preemptions = 0;
};

class EngineLoop {
public:
    // Borrows the runner and starts the thread.
    EngineLoop(Runner& runner, int vocabulary, const LoopOptions& options);
    // Ends what runs with `cancelled` and joins the thread.
    ~EngineLoop();
    EngineLoop(const EngineLoop&) = delete;
    EngineLoop& operator=(const EngineLoop&) = delete;

    // From any thread. busy when too much waits, bad_input when a job with this id has not ended.
    Result<void> submit(Job job);
    // From any thread. The job ends within one step; an unknown id is ignored.
    void cancel(std::uint64_t id);
    LoopStats stats() const;

private:
    struct Sequence {
        Job job;
        state::SequenceState state;
        std::uint64_t arrival;
        std::uint64_t last_step;  // in which it had a row, or it arrived
        bool was_started = false;
    };
    struct Cancel {
        std::uint64_t id;
    };
    using Command = std::variant<Job, Cancel>;
    using Sequences = std::vector<std::unique_ptr<Sequence>>;

    void run();
    void apply(Command command);
    void run_step();
    void move_sequences(const Decision& decision);
    void sample_step(const std::vector<Part>& batch);
    bool sample_one(Sequence& sequence, int row);
    // Takes the sequence out, gives back its pages, then tells its sink.
    void end(std::uint64_t id, Result<void> result);
    void end_all(const Error& error);
    Sequence& running(SequenceId id);
    void publish_stats();

    Runner& runner_;
    const LoopOptions options_;
    sample::Sampler sampler_;
    Sequences waiting_;
    Sequences running_;
    std::uint64_t arrivals_ = 0;
    LoopStats counted_;  // the engine thread's own copy

    mutable std::mutex mutex_;              // guards the two fields below
    std::map<std::uint64_t, bool> active_;  // jobs that have not ended → cancel was asked for
    LoopStats stats_;

    Inbox<Command> inbox_;
    std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace hearth::serve
