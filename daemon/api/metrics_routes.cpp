// The history for graphs, and what Prometheus reads.
#include <unistd.h>

#include <algorithm>

#include "daemon/api/failure_reply.h"
#include "daemon/api/query.h"
#include "daemon/api/routes.h"
#include "daemon/metrics/prometheus_text.h"
#include "daemon/supervise/proc_memory.h"
#include "ipc/protocol/metrics.h"

namespace hearth::api {
namespace {

using Models = std::vector<supervise::LoadedModel>;

void write_process_gauges(metrics::PrometheusText& text, const Models& models) {
    text.family("hearth_resident_bytes", "gauge", "Memory of hearthd and of each model's process.");
    text.sample({{"process", "hearthd"}},
                static_cast<double>(supervise::resident_bytes_of(::getpid())));
    for (const auto& model : models)
        text.sample({{"process", model.id}}, static_cast<double>(model.resident_bytes));
    text.family("hearth_kv_pages", "gauge", "Pages of keys and values, 16 positions each.");
    for (const auto& model : models) {
        const int used = model.stats.pages_total - model.stats.pages_free;
        text.sample({{"model", model.id}, {"state", "used"}}, used);
        text.sample({{"model", model.id}, {"state", "free"}}, model.stats.pages_free);
    }
}

void write_gauges(metrics::PrometheusText& text, const Services& services, const Models& models) {
    const int in_flight = services.generations.in_flight();
    int running = 0;
    for (const auto& model : models) running += model.stats.running;
    text.family("hearth_build_info", "gauge", "Always 1; the labels say what runs.");
    text.sample({{"version", services.facts.version}, {"build", services.facts.build}}, 1);
    text.family("hearth_uptime_seconds", "gauge", "Since the daemon's start.");
    text.sample(
        {}, std::chrono::duration<double>(std::chrono::steady_clock::now() - services.facts.started)
                .count());
    text.family("hearth_generations_running", "gauge", "Generations that a model works on.");
    text.sample({}, running);
    text.family("hearth_generations_waiting", "gauge", "Generations that wait for their turn.");
    text.sample({}, std::max(0, in_flight - running));
    text.family("hearth_models_installed", "gauge", "Models in the library.");
    text.sample({}, static_cast<double>(services.library.library().packages().size()));
    text.family("hearth_models_loaded", "gauge", "Models in memory.");
    text.sample({}, static_cast<double>(std::ranges::count_if(models, [](const auto& model) {
                    return model.state == supervise::State::ready;
                })));
    text.family("hearth_event_subscribers", "gauge", "Readers of /hearth/v1/events.");
    text.sample({}, static_cast<double>(services.telemetry.events().subscribers()));
    text.family("hearth_history_bytes", "gauge", "Memory of the rings behind the graphs.");
    text.sample({}, static_cast<double>(services.telemetry.sampler().history_bytes()));
    write_process_gauges(text, models);
}

class MetricsActivity final : public Activity {
public:
    MetricsActivity(Services& services, ReplyStream& stream) {
        services.supervisor.poll(lifeline_.guard([&services, &stream](const Models& models) {
            metrics::PrometheusText text;
            services.telemetry.totals().write(text);
            write_gauges(text, services, models);
            stream.send(Reply{.status = 200,
                              .content_type = "text/plain; version=0.0.4; charset=utf-8",
                              .body = text.take()});
        }));
    }

private:
    Lifeline lifeline_;
};

}  // namespace

ActivityPtr metrics_history(Services& services, const Request& request, ReplyStream& stream) {
    const std::string wanted = query_value(request.query, "window").value_or("5m");
    const auto* const window = std::ranges::find(metrics::kWindows, wanted, &metrics::Window::name);
    if (window == metrics::kWindows.end()) {
        stream.send(failure_reply(protocol::Failure{
            {ErrorCode::bad_input, "'window' must be 1m, 5m, 30m, 6h or 24h"}, "window"}));
        return nullptr;
    }
    stream.send(json_reply(to_json(services.telemetry.sampler().history(*window))));
    return nullptr;
}

ActivityPtr prometheus_metrics(Services& services, const Request&, ReplyStream& stream) {
    return std::make_unique<MetricsActivity>(services, stream);
}

}  // namespace hearth::api
