// What the daemon tells about itself: watches generations, models and requests, turns them into
// events, samples and counters. Thread "hearth-net". Texts of prompts and replies never come here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/event_hub.h"
#include "daemon/api/library_service.h"
#include "daemon/api/reply.h"
#include "daemon/api/sampler.h"
#include "daemon/metrics/totals.h"
#include "ipc/protocol/events.h"

namespace hearth::api {

class Telemetry final : public generate::Observer, public LibraryWatcher {
public:
    struct Parts {
        supervise::Supervisor& supervisor;
        generate::Generations& generations;
        LibraryService& library;
        std::unique_ptr<Timer> sampling;
        std::unique_ptr<Timer> keep_alive;
        std::function<void()> on_rest;  // nothing works any more, nobody looks
    };
    explicit Telemetry(Parts parts);
    ~Telemetry() override;
    Telemetry(const Telemetry&) = delete;
    Telemetry& operator=(const Telemetry&) = delete;

    EventHub& events() { return events_; }
    Sampler& sampler() { return sampler_; }
    const metrics::Totals& totals() const { return totals_; }
    std::vector<protocol::GenerationInfo> generations() const;
    std::vector<protocol::ImportInfo> imports() const;

    void on_models_changed();  // the list of loaded ones, or the state of one
    void on_answered(const Answered& record);
    void stop();  // subscribers hear of it; no more samples

    void on_started(std::uint64_t generation, const generate::Order& order) override;
    void on_accepted(std::uint64_t generation, std::size_t prompt_tokens) override;
    void on_tokens(std::uint64_t generation, std::size_t tokens) override;
    void on_done(std::uint64_t generation, const wire::Done& done) override;
    void on_failed(std::uint64_t generation, const Error& error) override;

    void on_import_started(std::uint64_t import, const std::string& path) override;
    void on_import_ended(std::uint64_t import, const Result<Imported>& result) override;
    void on_added(const library::Package& package) override;
    void on_removed(const std::string& id) override;
    void on_default_chosen() override;

private:
    using Clock = std::chrono::steady_clock;
    struct Live {
        protocol::GenerationInfo info;
        Clock::time_point started;
        Clock::time_point last_token;
    };
    struct Known {
        supervise::State state;
        int pid;
    };

    void end(std::map<std::uint64_t, Live>::iterator found);
    void publish_model(const supervise::LoadedModel& model);
    void publish_default();
    std::string default_model() const;

    supervise::Supervisor& supervisor_;
    generate::Generations& generations_;
    LibraryService& library_;
    EventHub events_;
    Sampler sampler_;
    metrics::Totals totals_;
    std::map<std::uint64_t, Live> live_;
    std::map<std::uint64_t, protocol::ImportInfo> imports_;
    std::map<std::string, Known> models_;  // as subscribers know them
    std::string default_;
};

}  // namespace hearth::api
