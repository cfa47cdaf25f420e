// What is written for Prometheus is what its format says.
#include "daemon/metrics/prometheus_text.h"

#include <gtest/gtest.h>

#include <array>

#include "daemon/metrics/totals.h"
#include "tests/daemon/metrics/prometheus_parser.h"

using namespace hearth::metrics;
using namespace hearth::metrics;
using hearth::testing::PrometheusParser;

namespace {

TEST(PrometheusText, WritesFamiliesLabelsAndNumbers) {
    PrometheusText text;
    text.family("hearth_a_total", "counter", "What a is.");
    text.sample({}, 3);
    text.family("hearth_b", "gauge", "What b is.");
    text.sample({{"x", "1"}, {"y", "two"}}, 0.25);
    EXPECT_EQ(
        text.take(),
        "# HELP hearth_a_total What a is.\n# TYPE hearth_a_total counter\nhearth_a_total 3\n"
        "# HELP hearth_b What b is.\n# TYPE hearth_b gauge\nhearth_b{x=\"1\",y=\"two\"} 0.25\n");
}

TEST(PrometheusText, EscapesWhatALabelMayHold) {
    PrometheusText text;
    text.family("hearth_a", "gauge", "A.");
    text.sample({{"model", "a\"b\\c\nd"}}, 1);
    const std::string written = text.take();
    EXPECT_NE(written.find(R"(hearth_a{model="a\"b\\c\nd"} 1)"), std::string::npos) << written;
    const PrometheusParser parser(written);
    EXPECT_EQ(parser.value(R"(hearth_a{model="a\"b\\c\nd"})"), 1);
}

TEST(PrometheusText, BucketsOfAHistogramAreSummedUp) {
    constexpr std::array kBounds = {0.1, 1.0, 10.0};
    Histogram histogram(kBounds);
    for (const double value : {0.05, 0.1, 0.5, 5.0, 50.0, 500.0}) histogram.observe(value);
    PrometheusText text;
    text.family("hearth_t_seconds", "histogram", "T.");
    text.sample(histogram);
    const PrometheusParser parser(text.take());
    EXPECT_EQ(parser.value("hearth_t_seconds_bucket{le=\"0.1\"}"), 2);
    EXPECT_EQ(parser.value("hearth_t_seconds_bucket{le=\"1\"}"), 3);
    EXPECT_EQ(parser.value("hearth_t_seconds_bucket{le=\"10\"}"), 4);
    EXPECT_EQ(parser.value("hearth_t_seconds_bucket{le=\"+Inf\"}"), 6);
    EXPECT_EQ(parser.value("hearth_t_seconds_count"), 6);
    EXPECT_DOUBLE_EQ(parser.value("hearth_t_seconds_sum"), 555.65);
}

TEST(Totals, ManyModelsShareOneLabel) {
    Totals totals;
    for (int i = 0; i < 1000; ++i) {
        const std::string model = "model-" + std::to_string(i);
        totals.add_tokens(model, 2);
        totals.add_load(model);
        totals.add_generation({model, "stop", 10, 4});
    }
    PrometheusText text;
    totals.write(text);
    const PrometheusParser parser(text.take());
    EXPECT_EQ(parser.families().at("hearth_generated_tokens_total").samples.size(),
              Totals::kMaxModels + 1);
    EXPECT_EQ(parser.value("hearth_generated_tokens_total{model=\"model-0\"}"), 2);
    EXPECT_EQ(parser.value("hearth_generated_tokens_total{model=\"other\"}"), 2 * (1000 - 64));
    EXPECT_EQ(parser.value("hearth_generations_total{model=\"other\",outcome=\"stop\"}"),
              1000 - 64);
    EXPECT_EQ(parser.value("hearth_prompt_tokens_total{model=\"model-5\"}"), 10);
    EXPECT_EQ(parser.value("hearth_cached_prompt_tokens_total{model=\"model-5\"}"), 4);
}

TEST(Totals, RequestsCountByRouteAndStatus) {
    Totals totals;
    totals.add_request({"/health", 200, 0.002, 0, 100});
    totals.add_request({"/health", 200, 0.2, 0, 100});
    totals.add_request({"", 404, 0.001, 7, 50});
    PrometheusText text;
    totals.write(text);
    const PrometheusParser parser(text.take());
    EXPECT_EQ(parser.value("hearth_http_requests_total{route=\"/health\",status=\"200\"}"), 2);
    EXPECT_EQ(parser.value("hearth_http_requests_total{route=\"other\",status=\"404\"}"), 1);
    EXPECT_EQ(parser.value("hearth_http_response_bytes_total"), 250);
    EXPECT_EQ(parser.value("hearth_http_request_bytes_total"), 7);
    EXPECT_EQ(parser.value("hearth_http_request_seconds_count"), 3);
}

}  // namespace
