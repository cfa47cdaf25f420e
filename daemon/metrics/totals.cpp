#include "daemon/metrics/totals.h"

#include <array>

namespace hearth::metrics {
namespace {

constexpr std::array kFirstToken = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                    1.0,   2.5,  5.0,   10.0, 30., 60.,  120.};
constexpr std::array kTokenGap = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0};
constexpr std::array kQueue = {0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0};
constexpr std::array kRequest = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10., 60., 600.};

}  // namespace

Totals::Totals()
    : first_token_seconds(kFirstToken),
      token_gap_seconds(kTokenGap),
      queue_seconds(kQueue),
      request_seconds(kRequest) {}

std::string Totals::label(const std::string& model) {
    if (models_.contains(model)) return model;
    if (models_.size() >= kMaxModels) return "other";
    models_.insert(model);
    return model;
}

void Totals::add_request(const RequestFacts& facts) {
    const std::string route = facts.route.empty() ? "other" : std::string(facts.route);
    ++requests_[{route, facts.status}];
    bytes_in_ += facts.bytes_in;
    bytes_out_ += facts.bytes_out;
    request_seconds.observe(facts.seconds);
}

void Totals::add_generation(const GenerationFacts& facts) {
    const std::string model = label(facts.model);
    ++generations_[{model, std::string(facts.outcome)}];
    prompt_tokens_[model] += static_cast<std::uint64_t>(facts.prompt_tokens);
    cached_tokens_[model] += static_cast<std::uint64_t>(facts.cached_tokens);
}

void Totals::add_tokens(const std::string& model, std::uint64_t generated) {
    generated_tokens_[label(model)] += generated;
}

void Totals::add_load(const std::string& model) { ++loads_[label(model)]; }

void Totals::write_by_model(PrometheusText& text, const ByModel& counts) {
    for (const auto& [model, count] : counts)
        text.sample({{"model", model}}, static_cast<double>(count));
}

void Totals::write(PrometheusText& text) const {
    text.family("hearth_http_requests_total", "counter", "Requests answered.");
    for (const auto& [key, count] : requests_)
        text.sample({{"route", key.first}, {"status", std::to_string(key.second)}},
                    static_cast<double>(count));
    text.family("hearth_http_request_bytes_total", "counter", "Bytes of request bodies.");
    text.sample({}, static_cast<double>(bytes_in_));
    text.family("hearth_http_response_bytes_total", "counter", "Bytes of answers, heads included.");
    text.sample({}, static_cast<double>(bytes_out_));
    text.family("hearth_http_request_seconds", "histogram",
                "From the head of a request to the end of its answer.");
    text.sample(request_seconds);
    text.family("hearth_generations_total", "counter", "Generations that ended.");
    for (const auto& [key, count] : generations_)
        text.sample({{"model", key.first}, {"outcome", key.second}}, static_cast<double>(count));
    text.family("hearth_prompt_tokens_total", "counter",
                "Tokens of prompts, cached ones included.");
    write_by_model(text, prompt_tokens_);
    text.family("hearth_cached_prompt_tokens_total", "counter",
                "Tokens of prompts whose state was there already.");
    write_by_model(text, cached_tokens_);
    text.family("hearth_generated_tokens_total", "counter", "Tokens generated.");
    write_by_model(text, generated_tokens_);
    text.family("hearth_model_loads_total", "counter", "Times that a model became ready.");
    write_by_model(text, loads_);
    text.family("hearth_first_token_seconds", "histogram",
                "From a request to its first token, loading included.");
    text.sample(first_token_seconds);
    text.family("hearth_token_gap_seconds", "histogram",
                "Time between the tokens of a generation.");
    text.sample(token_gap_seconds);
    text.family("hearth_queue_seconds", "histogram",
                "From a request to the start of its prompt, loading included.");
    text.sample(queue_seconds);
}

}  // namespace hearth::metrics
