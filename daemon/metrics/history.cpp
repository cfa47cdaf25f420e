#include "daemon/metrics/history.h"

#include <algorithm>

namespace hearth::metrics {
namespace {

constexpr std::array<MetricFacts, kMetrics> kFacts = {{
    {"generation_tokens_per_second", "tokens/s", Idle::zero},
    {"prompt_tokens_per_second", "tokens/s", Idle::zero},
    {"running", "requests", Idle::zero},
    {"pages_used_percent", "%", Idle::gap},
    {"worker_resident_bytes", "bytes", Idle::gap},
    {"daemon_resident_bytes", "bytes", Idle::gap},
    {"queued", "requests", Idle::zero},
    {"first_token_ms", "ms", Idle::gap},
    {"gap_p50_ms", "ms", Idle::gap},
    {"gap_p95_ms", "ms", Idle::gap},
    {"errors_per_second", "1/s", Idle::zero},
}};

std::vector<Series> make_series(std::size_t count) {
    std::vector<Series> series;
    for (std::size_t i = 0; i < count; ++i) series.emplace_back(kFacts[i].idle);
    return series;
}

}  // namespace

const MetricFacts& facts(Metric metric) { return kFacts[static_cast<std::size_t>(metric)]; }

History::History() : daemon_(make_series(kMetrics)) {}

void History::add(Metric metric, std::int64_t bin, double value) {
    daemon_[static_cast<std::size_t>(metric)].add(bin, value);
}

void History::add_for(const std::string& model, Metric metric, std::int64_t bin, double value) {
    auto found = models_.find(model);
    if (found == models_.end()) {
        if (models_.size() == kMaxModels)
            models_.erase(std::ranges::min_element(
                models_, {}, [](const auto& entry) { return entry.second.last; }));
        found = models_.emplace(model, ModelSeries{make_series(kModelMetrics), bin}).first;
    }
    found->second.last = std::max(found->second.last, bin);
    found->second.series.at(static_cast<std::size_t>(metric)).add(bin, value);
}

void History::mark(Mark mark) {
    if (marks_.size() == kMaxMarks) marks_.pop_front();
    marks_.push_back(std::move(mark));
}

std::vector<NamedSeries> History::series() const {
    std::vector<NamedSeries> list;
    for (std::size_t i = 0; i < kMetrics; ++i)
        list.push_back({static_cast<Metric>(i), {}, &daemon_[i]});
    for (const auto& [model, entry] : models_)
        for (std::size_t i = 0; i < kModelMetrics; ++i)
            list.push_back({static_cast<Metric>(i), model, &entry.series[i]});
    return list;
}

std::vector<Mark> History::marks_since(double time) const {
    std::vector<Mark> list;
    for (const Mark& mark : marks_)
        if (mark.time >= time) list.push_back(mark);
    return list;
}

std::size_t History::bytes() const {
    std::size_t bytes = 0;
    for (const NamedSeries& entry : series()) bytes += entry.series->bytes();
    return bytes;
}

}  // namespace hearth::metrics
