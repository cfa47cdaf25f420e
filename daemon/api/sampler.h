// Takes the numbers of graphs: every quarter of a second while something works or somebody looks,
// and not at all otherwise. Thread "hearth-net".
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/lifeline.h"
#include "daemon/api/timer.h"
#include "daemon/generate/generations.h"
#include "daemon/metrics/gap_window.h"
#include "daemon/metrics/history.h"
#include "daemon/supervise/supervisor.h"
#include "ipc/protocol/metrics.h"

namespace hearth::api {

class Sampler {
public:
    struct Parts {
        supervise::Supervisor& supervisor;
        generate::Generations& generations;
        std::unique_ptr<Timer> timer;
        std::function<bool()> is_wanted;  // besides what runs
        std::function<void(const protocol::MetricsSample&)> on_sample;
        std::function<void()> on_rest;  // work has ended
    };
    explicit Sampler(Parts parts) : parts_(std::move(parts)) {}

    // Something works, or somebody looks: samples are taken until that has ended.
    void wake();
    void stop();

    void add_tokens(const std::string& model, std::size_t tokens);
    void add_first_token(double milliseconds);
    void add_gap(double milliseconds) { gaps_.add(milliseconds); }
    void add_error() { ++errors_; }
    void mark(std::string_view kind, const std::string& model);

    protocol::MetricsHistory history(const metrics::Window& window) const;
    std::size_t history_bytes() const { return history_.bytes(); }

private:
    using Clock = std::chrono::steady_clock;
    using Models = std::vector<supervise::LoadedModel>;
    struct Bins {  // that one sample stands for
        std::int64_t first;
        std::int64_t last;
        double seconds;
    };

    double seconds_since_start() const;
    std::int64_t current_bin() const;
    void await_next_bin();
    void on_models(const Models& models);
    void sample(const Models& models, const Bins& bins);
    void sample_model(const supervise::LoadedModel& model, const Bins& bins,
                      protocol::MetricsSample& sample);
    std::uint64_t new_prompt_tokens(const supervise::LoadedModel& model);
    void record(const protocol::MetricsSample& sample, const Bins& bins);

    Parts parts_;
    metrics::History history_;
    metrics::GapWindow gaps_;
    const Clock::time_point start_ = Clock::now();
    bool is_awake_ = false;
    bool is_stopped_ = false;
    std::int64_t last_bin_ = -1;                   // that has been recorded
    std::map<std::string, std::uint64_t> tokens_;  // generated since then, by model
    std::uint64_t errors_ = 0;
    struct Seen {
        int pid = 0;
        std::uint64_t prompt_tokens = 0;
    };
    std::map<std::string, Seen> seen_;
    Lifeline lifeline_;
};

}  // namespace hearth::api
