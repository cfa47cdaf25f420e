// Writes the text format 0.0.4 that Prometheus reads: per family one HELP and one TYPE line, then
// its samples.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::metrics {

class Histogram {
public:
    // Upper bounds, rising; the one of infinity is there by itself. They must outlive this.
    explicit Histogram(std::span<const double> bounds)
        : bounds_(bounds), counts_(bounds.size() + 1) {}

    void observe(double value);
    std::span<const double> bounds() const { return bounds_; }
    std::span<const std::uint64_t> counts() const { return counts_; }  // per bucket, not summed up
    double sum() const { return sum_; }

private:
    std::span<const double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

class PrometheusText {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Everything up to the next call belongs to it. `type` is counter, gauge or histogram.
    void family(std::string_view name, std::string_view type, std::string_view help);
    void sample(Labels labels, double value) { line(family_, labels, value); }
    void sample(const Histogram& histogram);

    std::string take() { return std::move(text_); }

private:
    void line(std::string_view name, Labels labels, double value);

    std::string family_;
    std::string text_;
};

}  // namespace hearth::metrics
