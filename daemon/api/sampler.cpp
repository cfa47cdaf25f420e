// A sample is taken when a bin is over and belongs to it. When the loop was late, it belongs to all
// bins that are over since the last one: so a bin never has two samples, nor a false gap.
#include "daemon/api/sampler.h"

#include <unistd.h>

#include <algorithm>

#include "daemon/supervise/proc_memory.h"

namespace hearth::api {
namespace {

using metrics::Metric;

constexpr double kBinSeconds = std::chrono::duration<double>(metrics::kBin).count();

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::optional<double> used_percent(int free, int total) {
    if (total <= 0) return std::nullopt;
    return 100.0 * (total - free) / total;
}

}  // namespace

double Sampler::seconds_since_start() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::int64_t Sampler::current_bin() const { return (Clock::now() - start_) / metrics::kBin; }

void Sampler::wake() {
    if (is_awake_ || is_stopped_) return;
    is_awake_ = true;
    last_bin_ = current_bin() - 1;
    await_next_bin();
}

void Sampler::stop() {
    is_stopped_ = true;
    parts_.timer->cancel();
}

void Sampler::await_next_bin() {
    const auto next = start_ + (current_bin() + 1) * metrics::kBin;
    // One more millisecond, because the timer may round down.
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()) +
                      std::chrono::milliseconds(1);
    parts_.timer->start(rest, [this] {
        parts_.supervisor.poll(
            lifeline_.guard([this](const Models& models) { on_models(models); }));
    });
}

void Sampler::on_models(const Models& models) {
    if (is_stopped_) return;
    const std::int64_t last = current_bin() - 1;
    const auto count = static_cast<double>(last - last_bin_);
    // A loop that stood still for minutes need not fill them one by one.
    const Bins bins{std::max(last_bin_ + 1, last - metrics::kWindows[0].count), last,
                    count * kBinSeconds};
    if (count > 0) sample(models, bins);
    last_bin_ = last;
    const bool is_busy =
        parts_.generations.in_flight() > 0 || std::ranges::any_of(models, [](const auto& model) {
            return model.state != supervise::State::ready;
        });
    is_awake_ = is_busy || parts_.is_wanted();
    if (is_awake_)
        await_next_bin();
    else
        parts_.on_rest();
}

void Sampler::sample(const Models& models, const Bins& bins) {
    protocol::MetricsSample sample;
    sample.time = seconds_since_1970();
    int pages_free = 0;
    int pages_total = 0;
    for (const auto& model : models) {
        sample_model(model, bins, sample);
        pages_free += model.stats.pages_free;
        pages_total += model.stats.pages_total;
    }
    // Tokens of models that are gone by now count as well.
    double tokens = 0;
    for (const auto& [model, count] : tokens_) tokens += static_cast<double>(count);
    sample.generation_tokens_per_second = tokens / bins.seconds;
    sample.queued = std::max(0, parts_.generations.in_flight() - sample.running);
    sample.pages_used_percent = used_percent(pages_free, pages_total);
    sample.gap_p50_ms = gaps_.percentile(0.50);
    sample.gap_p95_ms = gaps_.percentile(0.95);
    sample.errors_per_second = static_cast<double>(errors_) / bins.seconds;
    sample.daemon_resident_bytes = supervise::resident_bytes_of(::getpid());
    tokens_.clear();
    errors_ = 0;
    std::erase_if(seen_, [&](const auto& entry) {
        return std::ranges::none_of(models, [&](const auto& m) { return m.id == entry.first; });
    });
    for (auto bin = bins.first; bin <= std::min(bins.last, bins.first + 3); ++bin) gaps_.next_bin();
    record(sample, bins);
    parts_.on_sample(sample);
}

void Sampler::sample_model(const supervise::LoadedModel& model, const Bins& bins,
                           protocol::MetricsSample& sample) {
    protocol::ModelSample one;
    one.id = model.id;
    const auto found = tokens_.find(model.id);
    const auto tokens = found == tokens_.end() ? 0.0 : static_cast<double>(found->second);
    one.generation_tokens_per_second = tokens / bins.seconds;
    one.prompt_tokens_per_second = static_cast<double>(new_prompt_tokens(model)) / bins.seconds;
    one.running = model.stats.running;
    one.pages_used_percent = used_percent(model.stats.pages_free, model.stats.pages_total);
    one.resident_bytes = model.resident_bytes;
    sample.prompt_tokens_per_second += one.prompt_tokens_per_second;
    sample.running += one.running;
    sample.worker_resident_bytes += one.resident_bytes;
    sample.models.push_back(std::move(one));
}

std::uint64_t Sampler::new_prompt_tokens(const supervise::LoadedModel& model) {
    Seen& seen = seen_[model.id];
    if (seen.pid != model.pid) seen = {model.pid, 0};
    const std::uint64_t now = std::max(model.stats.prompt_tokens, seen.prompt_tokens);
    return now - std::exchange(seen.prompt_tokens, now);
}

void Sampler::record(const protocol::MetricsSample& sample, const Bins& bins) {
    const auto add = [&](Metric metric, std::optional<double> value) {
        for (auto bin = bins.first; value && bin <= bins.last; ++bin)
            history_.add(metric, bin, *value);
    };
    add(Metric::generation_speed, sample.generation_tokens_per_second);
    add(Metric::prompt_speed, sample.prompt_tokens_per_second);
    add(Metric::running, sample.running);
    add(Metric::queued, sample.queued);
    add(Metric::pages_used, sample.pages_used_percent);
    add(Metric::gap_p50, sample.gap_p50_ms);
    add(Metric::gap_p95, sample.gap_p95_ms);
    add(Metric::errors, sample.errors_per_second);
    add(Metric::daemon_memory, static_cast<double>(sample.daemon_resident_bytes));
    if (!sample.models.empty())
        add(Metric::worker_memory, static_cast<double>(sample.worker_resident_bytes));
    for (const auto& model : sample.models) {
        const auto add_for = [&](Metric metric, std::optional<double> value) {
            for (auto bin = bins.first; value && bin <= bins.last; ++bin)
                history_.add_for(model.id, metric, bin, *value);
        };
        add_for(Metric::generation_speed, model.generation_tokens_per_second);
        add_for(Metric::prompt_speed, model.prompt_tokens_per_second);
        add_for(Metric::running, model.running);
        add_for(Metric::pages_used, model.pages_used_percent);
        add_for(Metric::worker_memory, static_cast<double>(model.resident_bytes));
    }
}

void Sampler::add_tokens(const std::string& model, std::size_t tokens) { tokens_[model] += tokens; }

void Sampler::add_first_token(double milliseconds) {
    history_.add(Metric::first_token, current_bin(), milliseconds);
}

void Sampler::mark(std::string_view kind, const std::string& model) {
    history_.mark({seconds_since_start(), kind, model});
}

protocol::MetricsHistory Sampler::history(const metrics::Window& window) const {
    // The wall clock is looked at now: when it was set in between, times in the past move with it.
    const double origin = seconds_since_1970() - seconds_since_start();
    const std::int64_t now = current_bin();
    const auto begin = static_cast<double>(metrics::Series::start(window, now)) * kBinSeconds;
    protocol::MetricsHistory out;
    out.window = window.name;
    out.start = origin + begin;
    out.step = window.step * kBinSeconds;
    for (const metrics::NamedSeries& entry : history_.series()) {
        const metrics::MetricFacts& facts = metrics::facts(entry.metric);
        protocol::HistorySeries series{
            std::string(facts.name), std::string(facts.unit), entry.model, {}, {}, {}};
        for (const auto& point : entry.series->read(window, now)) {
            series.min.push_back(point ? std::optional(point->min) : std::nullopt);
            series.mean.push_back(point ? std::optional(point->mean) : std::nullopt);
            series.max.push_back(point ? std::optional(point->max) : std::nullopt);
        }
        out.series.push_back(std::move(series));
    }
    for (const metrics::Mark& mark : history_.marks_since(begin))
        out.ticks.push_back({origin + mark.time, std::string(mark.kind), mark.model});
    return out;
}

}  // namespace hearth::api
