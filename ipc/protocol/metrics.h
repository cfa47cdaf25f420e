// Numbers over time: one sample as subscribers of events get it, and the history for graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

struct ModelSample {
    std::string id;
    double generation_tokens_per_second = 0;
    double prompt_tokens_per_second = 0;
    int running = 0;
    std::optional<double> pages_used_percent;
    std::uint64_t resident_bytes = 0;
};

// Of the last quarter of a second; gaps between tokens of the last second.
struct MetricsSample {
    double time = 0;  // seconds since 1970
    double generation_tokens_per_second = 0;
    double prompt_tokens_per_second = 0;
    std::optional<double> gap_p50_ms;
    std::optional<double> gap_p95_ms;
    int running = 0;
    int queued = 0;
    std::optional<double> pages_used_percent;
    std::uint64_t daemon_resident_bytes = 0;
    std::uint64_t worker_resident_bytes = 0;
    double errors_per_second = 0;
    std::vector<ModelSample> models;
};

// Columns of equal length, oldest first; a step without a value is empty in all three.
struct HistorySeries {
    std::string name;
    std::string unit;
    std::string model;  // empty: the whole daemon
    std::vector<std::optional<double>> min;
    std::vector<std::optional<double>> mean;
    std::vector<std::optional<double>> max;
};

// A moment to mark in a graph.
struct HistoryTick {
    double time = 0;   // seconds since 1970
    std::string kind;  // "load", "unload", "error", "start", "end"
    std::string model;
};

struct MetricsHistory {
    std::string window;  // "1m", "5m", "30m", "6h", "24h"
    double start = 0;    // of the first step, seconds since 1970
    double step = 0;     // seconds
    std::vector<HistorySeries> series;
    std::vector<HistoryTick> ticks;
};

json::object to_json(const MetricsSample& sample);
MetricsSample read_metrics_sample(Fields& fields);
json::object to_json(const MetricsHistory& history);
MetricsHistory read_metrics_history(Fields& fields);

}  // namespace hearth::protocol
