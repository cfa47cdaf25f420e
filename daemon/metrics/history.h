// All series of the daemon and of the models it ran lately, and the moments that graphs mark. At
// most History::kMaxBytes of rings: models beyond kMaxModels take the place of the one that was
// silent longest.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/metrics/series.h"

namespace hearth::metrics {

enum class Metric : std::uint8_t {
    generation_speed,
    prompt_speed,
    running,
    pages_used,
    worker_memory,  // up to here also per model
    daemon_memory,
    queued,
    first_token,
    gap_p50,
    gap_p95,
    errors,
};
constexpr std::size_t kMetrics = 11;
constexpr std::size_t kModelMetrics = 5;

struct MetricFacts {
    std::string_view name;
    std::string_view unit;
    Idle idle;
};
const MetricFacts& facts(Metric metric);

// A moment: "load", "unload", "error", "start", "end".
struct Mark {
    double time = 0;  // seconds since the daemon's start
    std::string_view kind;
    std::string model;
};

struct NamedSeries {
    Metric metric;
    std::string model;  // empty: of the daemon as a whole
    const Series* series;
};

class History {
public:
    static constexpr std::size_t kMaxModels = 8;
    static constexpr std::size_t kMaxMarks = 512;
    static constexpr std::size_t kMaxBytes =
        (kMetrics + kMaxModels * kModelMetrics) * Series::max_bytes();

    History();

    void add(Metric metric, std::int64_t bin, double value);
    void add_for(const std::string& model, Metric metric, std::int64_t bin, double value);
    void mark(Mark mark);

    std::vector<NamedSeries> series() const;
    std::vector<Mark> marks_since(double time) const;
    std::size_t bytes() const;

private:
    struct ModelSeries {
        std::vector<Series> series;
        std::int64_t last = 0;
    };

    std::vector<Series> daemon_;
    std::map<std::string, ModelSeries> models_;
    std::deque<Mark> marks_;
};

}  // namespace hearth::metrics
