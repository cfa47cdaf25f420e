#include "daemon/metrics/prometheus_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace hearth::metrics {
namespace {

std::string number(double value) {
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    if (std::isnan(value)) return "NaN";
    std::array<char, 40> text;
    constexpr double kExact = 9e15;  // below it every whole number is one
    if (value == std::floor(value) && std::abs(value) < kExact) {
        const auto whole = static_cast<std::int64_t>(value);
        return {text.data(), std::to_chars(text.data(), text.data() + text.size(), whole).ptr};
    }
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == '\\' || c == '"') text += '\\';
        if (c == '\n')
            text += "\\n";
        else
            text += c;
    }
    return text;
}

}  // namespace

void Histogram::observe(double value) {
    const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    sum_ += value;
}

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
    family_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help) += '\n';
    text_.append("# TYPE ").append(name).append(" ").append(type) += '\n';
}

void PrometheusText::sample(const Histogram& histogram) {
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
        so_far += histogram.counts()[i];
        const bool is_last = i == histogram.bounds().size();
        const std::string bound = is_last ? "+Inf" : number(histogram.bounds()[i]);
        line(family_ + "_bucket", {{"le", bound}}, static_cast<double>(so_far));
    }
    line(family_ + "_sum", {}, histogram.sum());
    line(family_ + "_count", {}, static_cast<double>(so_far));
}

void PrometheusText::line(std::string_view name, Labels labels, double value) {
    text_ += name;
    char mark = '{';
    for (const auto& [key, content] : labels) {
        text_ += mark;
        text_.append(key).append("=\"").append(escaped(content)) += '"';
        mark = ',';
    }
    if (labels.size() > 0) text_ += '}';
    text_.append(" ").append(number(value)) += '\n';
}

}  // namespace hearth::metrics
