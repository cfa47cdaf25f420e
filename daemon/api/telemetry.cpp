#include "daemon/api/telemetry.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "daemon/api/status_parts.h"
#include "engine/base/log.h"
#include "engine/base/utf8.h"
#include "ipc/worker/codec.h"

namespace hearth::api {
namespace {

namespace events = protocol::events;

constexpr std::size_t kMaxClient = 100;  // bytes of a client's own name
constexpr std::size_t kMaxPath = 200;    // bytes of a path in the log

// Numbers go on rising from one daemon to the next, and stay below 2^53, as JSON readers want it.
std::uint64_t first_number() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    constexpr std::uint64_t kChangesPerMillisecond = 1000;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(milliseconds, 1)) *
           kChangesPerMillisecond;
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

// "GET /health 200 0.2 ms 15 bytes"
std::string log_line(const Answered& record) {
    std::array<char, 40> time{};
    std::snprintf(time.data(), time.size(), "%.1f", milliseconds(record.time));
    return record.method.substr(0, 20) + " " + repair_utf8(record.path.substr(0, kMaxPath)) + " " +
           std::to_string(record.status) + " " + time.data() + " ms " +
           std::to_string(record.bytes_out) + " bytes";
}

}  // namespace

Telemetry::Telemetry(Parts parts)
    : supervisor_(parts.supervisor),
      generations_(parts.generations),
      library_(parts.library),
      events_(first_number(), std::move(parts.keep_alive)),
      sampler_({parts.supervisor, parts.generations, std::move(parts.sampling),
                [this] { return events_.are_samples_wanted(); },
                [this](const protocol::MetricsSample& sample) {
                    if (events_.are_samples_wanted())
                        events_.publish_sample(events::kMetrics, to_json(sample));
                },
                std::move(parts.on_rest)}),
      default_(default_model()) {
    generations_.set_observer(this);
    library_.set_watcher(this);
}

Telemetry::~Telemetry() {
    generations_.set_observer(nullptr);
    library_.set_watcher(nullptr);
}

void Telemetry::stop() {
    sampler_.stop();
    events_.publish(events::kStopping, {});
    events_.end();
}

// ---- requests ----

void Telemetry::on_answered(const Answered& record) {
    totals_.add_request({record.route, record.status, milliseconds(record.time) / 1e3,
                         record.bytes_in, record.bytes_out});
    log(LogLevel::debug, log_line(record));
}

// ---- generations ----

std::vector<protocol::GenerationInfo> Telemetry::generations() const {
    std::vector<protocol::GenerationInfo> list;
    for (const auto& [number, live] : live_) {
        list.push_back(live.info);
        list.back().age_ms = milliseconds(Clock::now() - live.started);
    }
    return list;
}

void Telemetry::on_started(std::uint64_t generation, const generate::Order& order) {
    Live& live = live_[generation];
    live.started = Clock::now();
    live.info.generation = generation;
    live.info.model = order.model.id;
    live.info.client = repair_utf8(order.request.client.substr(0, kMaxClient));
    live.info.priority = to_string(order.request.priority);
    live.info.state = "waiting";
    events_.publish(events::kGenerationStarted, to_json(live.info));
    sampler_.mark("start", live.info.model);
    sampler_.wake();
}

void Telemetry::on_accepted(std::uint64_t generation, std::size_t prompt_tokens) {
    const auto found = live_.find(generation);
    if (found == live_.end()) return;
    found->second.info.state = "running";
    found->second.info.prompt_tokens = static_cast<int>(prompt_tokens);
}

void Telemetry::on_tokens(std::uint64_t generation, std::size_t tokens) {
    const auto found = live_.find(generation);
    if (found == live_.end() || tokens == 0) return;
    Live& live = found->second;
    const Clock::time_point now = Clock::now();
    const bool is_first = live.info.generated_tokens == 0;
    live.info.generated_tokens += static_cast<int>(tokens);
    if (is_first) {
        live.info.first_token_ms = live.info.age_ms = milliseconds(now - live.started);
        totals_.first_token_seconds.observe(live.info.first_token_ms / 1e3);
        sampler_.add_first_token(live.info.first_token_ms);
        events_.publish(events::kFirstToken, to_json(live.info));
    } else {
        const double gap = milliseconds(now - live.last_token) / static_cast<double>(tokens);
        totals_.token_gap_seconds.observe(gap / 1e3);
        sampler_.add_gap(gap);
    }
    live.last_token = now;
    totals_.add_tokens(live.info.model, tokens);
    sampler_.add_tokens(live.info.model, tokens);
}

void Telemetry::on_done(std::uint64_t generation, const wire::Done& done) {
    const auto found = live_.find(generation);
    if (found == live_.end()) return;
    protocol::GenerationInfo& info = found->second.info;
    info.state = to_string(done.reason);
    info.cached_tokens = done.timings.cached_tokens;
    info.queue_ms = done.timings.queue_ms;
    info.prompt_ms = done.timings.prompt_ms;
    info.generation_ms = done.timings.generation_ms;
    totals_.queue_seconds.observe(info.queue_ms / 1e3);
    sampler_.mark("end", info.model);
    end(found);
}

void Telemetry::on_failed(std::uint64_t generation, const Error& error) {
    const auto found = live_.find(generation);
    if (found == live_.end()) return;
    protocol::GenerationInfo& info = found->second.info;
    const bool is_cancelled = error.code == ErrorCode::cancelled;
    info.state = is_cancelled ? "cancelled" : "failed";
    if (!is_cancelled) {
        info.error = to_string(error.code);
        sampler_.add_error();
    }
    sampler_.mark(is_cancelled ? "end" : "error", info.model);
    end(found);
}

void Telemetry::end(std::map<std::uint64_t, Live>::iterator found) {
    protocol::GenerationInfo& info = found->second.info;
    info.age_ms = milliseconds(Clock::now() - found->second.started);
    totals_.add_generation({info.model, info.state, info.prompt_tokens, info.cached_tokens});
    events_.publish(events::kGenerationEnded, to_json(info));
    live_.erase(found);
}

// ---- models ----

void Telemetry::on_models_changed() {
    const auto models = supervisor_.glance();
    for (const supervise::LoadedModel& model : models) {
        const auto known = models_.find(model.id);
        if (known != models_.end() && known->second.state == model.state &&
            known->second.pid == model.pid)
            continue;
        models_.insert_or_assign(model.id, Known{model.state, model.pid});
        publish_model(model);
    }
    std::erase_if(models_, [&](const auto& known) {
        const std::string& id = known.first;
        if (std::ranges::any_of(models, [&](const auto& model) { return model.id == id; }))
            return false;
        events_.publish(events::kModelState, {{"id", id}, {"state", "gone"}});
        sampler_.mark("unload", id);
        return true;
    });
    sampler_.wake();
}

void Telemetry::publish_model(const supervise::LoadedModel& model) {
    events_.publish(events::kModelState, to_json(describe(model)));
    if (model.state != supervise::State::ready) return;
    totals_.add_load(model.id);
    sampler_.mark("load", model.id);
}

void Telemetry::on_added(const library::Package& package) {
    events_.publish(events::kModelAdded,
                    to_json(entry_for(library_.library(), supervisor_, package)));
    publish_default();
}

void Telemetry::on_removed(const std::string& id) {
    events_.publish(events::kModelRemoved, {{"id", id}});
    publish_default();
}

void Telemetry::on_default_chosen() { publish_default(); }

std::string Telemetry::default_model() const {
    const library::Package* fallback = library_.library().fallback();
    return fallback == nullptr ? "" : fallback->id;
}

// The default can also change because a model came or went.
void Telemetry::publish_default() {
    const std::string id = default_model();
    if (std::exchange(default_, id) == id) return;
    events_.publish(events::kDefaultChanged,
                    {{"id", id.empty() ? boost::json::value(nullptr) : boost::json::value(id)}});
}

// ---- imports ----

std::vector<protocol::ImportInfo> Telemetry::imports() const {
    std::vector<protocol::ImportInfo> list;
    for (const auto& [number, info] : imports_) list.push_back(info);
    return list;
}

void Telemetry::on_import_started(std::uint64_t import, const std::string& path) {
    const std::string file = repair_utf8(path.substr(path.rfind('/') + 1));
    const protocol::ImportInfo info{import, file, {}, {}};
    imports_[import] = info;
    events_.publish(events::kImportStarted, to_json(info));
}

void Telemetry::on_import_ended(std::uint64_t import, const Result<Imported>& result) {
    auto node = imports_.extract(import);
    if (node.empty()) return;
    protocol::ImportInfo& info = node.mapped();
    if (result)
        info.model = result->package.id;
    else
        info.error = to_string(result.error().code);
    events_.publish(events::kImportEnded, to_json(info));
}

}  // namespace hearth::api
