// What has happened since the daemon's start, as counters and histograms. Labels are bounded:
// routes of the table, statuses of HTTP, and at most kMaxModels models, further ones as "other".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/metrics/prometheus_text.h"

namespace hearth::metrics {

struct RequestFacts {
    std::string_view route;  // its pattern; empty: none was found
    int status = 0;
    double seconds = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

struct GenerationFacts {
    std::string model;
    std::string_view outcome;  // "stop", "length", "cancelled", "failed"
    int prompt_tokens = 0;
    int cached_tokens = 0;
};

class Totals {
public:
    static constexpr std::size_t kMaxModels = 64;

    Totals();

    void add_request(const RequestFacts& facts);
    void add_generation(const GenerationFacts& facts);
    void add_tokens(const std::string& model, std::uint64_t generated);
    void add_load(const std::string& model);

    Histogram first_token_seconds;
    Histogram token_gap_seconds;
    Histogram queue_seconds;
    Histogram request_seconds;

    void write(PrometheusText& text) const;

private:
    using ByModel = std::map<std::string, std::uint64_t>;

    std::string label(const std::string& model);
    static void write_by_model(PrometheusText& text, const ByModel& counts);

    std::set<std::string> models_;
    std::map<std::pair<std::string, int>, std::uint64_t> requests_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> generations_;
    ByModel prompt_tokens_;
    ByModel cached_tokens_;
    ByModel generated_tokens_;
    ByModel loads_;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
};

}  // namespace hearth::metrics
