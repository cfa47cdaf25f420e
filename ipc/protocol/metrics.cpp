#include "ipc/protocol/metrics.h"

#include <cmath>

#include "ipc/protocol/lists.h"

namespace hearth::protocol {
namespace {

using Column = std::vector<std::optional<double>>;

// Six digits are more than a graph can show, and a third of the bytes.
double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
    return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

json::value or_null(const std::optional<double>& value) {
    return value ? json::value(rounded(*value)) : json::value(nullptr);
}

json::array column_json(const Column& column) {
    json::array out;
    out.reserve(column.size());
    for (const auto& value : column) out.push_back(or_null(value));
    return out;
}

Column read_column(Fields& fields, std::string_view name) {
    Column column;
    const json::array* list = fields.array(name);
    if (list == nullptr) return column;
    for (const json::value& value : *list) {
        boost::system::error_code problem;
        const auto number = value.to_number<double>(problem);
        column.push_back(problem ? std::nullopt : std::optional(number));
    }
    return column;
}

int count(Fields& fields, std::string_view name) {
    return static_cast<int>(fields.integer(name, {0, INT32_MAX}).value_or(0));
}

json::object model_json(const ModelSample& model) {
    return {{"id", model.id},
            {"generation_tokens_per_second", rounded(model.generation_tokens_per_second)},
            {"prompt_tokens_per_second", rounded(model.prompt_tokens_per_second)},
            {"running", model.running},
            {"pages_used_percent", or_null(model.pages_used_percent)},
            {"resident_bytes", model.resident_bytes}};
}

ModelSample read_model(Fields& fields) {
    ModelSample model;
    model.id = fields.required_text("id");
    model.generation_tokens_per_second = fields.number("generation_tokens_per_second").value_or(0);
    model.prompt_tokens_per_second = fields.number("prompt_tokens_per_second").value_or(0);
    model.running = count(fields, "running");
    model.pages_used_percent = fields.number("pages_used_percent");
    model.resident_bytes = fields.size("resident_bytes").value_or(0);
    return model;
}

HistorySeries read_series(Fields& fields) {
    HistorySeries series;
    series.name = fields.required_text("name");
    series.unit = fields.text("unit").value_or("");
    series.model = fields.text("model").value_or("");
    series.min = read_column(fields, "min");
    series.mean = read_column(fields, "mean");
    series.max = read_column(fields, "max");
    return series;
}

HistoryTick read_tick(Fields& fields) {
    HistoryTick tick;
    tick.time = fields.number("time").value_or(0);
    tick.kind = fields.required_text("kind");
    tick.model = fields.text("model").value_or("");
    return tick;
}

}  // namespace

json::object to_json(const MetricsSample& sample) {
    json::object out = {
        {"time", sample.time},
        {"generation_tokens_per_second", rounded(sample.generation_tokens_per_second)},
        {"prompt_tokens_per_second", rounded(sample.prompt_tokens_per_second)},
        {"gap_p50_ms", or_null(sample.gap_p50_ms)},
        {"gap_p95_ms", or_null(sample.gap_p95_ms)},
        {"running", sample.running},
        {"queued", sample.queued},
        {"pages_used_percent", or_null(sample.pages_used_percent)},
        {"daemon_resident_bytes", sample.daemon_resident_bytes},
        {"worker_resident_bytes", sample.worker_resident_bytes},
        {"errors_per_second", rounded(sample.errors_per_second)}};
    json::array& models = out["models"].emplace_array();
    for (const ModelSample& model : sample.models) models.emplace_back(model_json(model));
    return out;
}

MetricsSample read_metrics_sample(Fields& fields) {
    MetricsSample sample;
    sample.time = fields.number("time").value_or(0);
    sample.generation_tokens_per_second = fields.number("generation_tokens_per_second").value_or(0);
    sample.prompt_tokens_per_second = fields.number("prompt_tokens_per_second").value_or(0);
    sample.gap_p50_ms = fields.number("gap_p50_ms");
    sample.gap_p95_ms = fields.number("gap_p95_ms");
    sample.running = count(fields, "running");
    sample.queued = count(fields, "queued");
    sample.pages_used_percent = fields.number("pages_used_percent");
    sample.daemon_resident_bytes = fields.size("daemon_resident_bytes").value_or(0);
    sample.worker_resident_bytes = fields.size("worker_resident_bytes").value_or(0);
    sample.errors_per_second = fields.number("errors_per_second").value_or(0);
    sample.models = read_list(fields, "models", read_model);
    return sample;
}

json::object to_json(const MetricsHistory& history) {
    json::object out = {
        {"window", history.window}, {"start", history.start}, {"step", history.step}};
    json::array& series = out["series"].emplace_array();
    for (const HistorySeries& one : history.series)
        series.emplace_back(json::object{
            {"name", one.name},
            {"unit", one.unit},
            {"model", one.model.empty() ? json::value(nullptr) : json::value(one.model)},
            {"min", column_json(one.min)},
            {"mean", column_json(one.mean)},
            {"max", column_json(one.max)}});
    json::array& ticks = out["ticks"].emplace_array();
    for (const HistoryTick& tick : history.ticks)
        ticks.emplace_back(
            json::object{{"time", tick.time}, {"kind", tick.kind}, {"model", tick.model}});
    return out;
}

MetricsHistory read_metrics_history(Fields& fields) {
    MetricsHistory history;
    history.window = fields.required_text("window");
    history.start = fields.number("start").value_or(0);
    history.step = fields.number("step").value_or(0);
    history.series = read_list(fields, "series", read_series);
    history.ticks = read_list(fields, "ticks", read_tick);
    return history;
}

}  // namespace hearth::protocol
