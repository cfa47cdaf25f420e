// A strict reader of Prometheus' text format 0.0.4: what it does not accept is wrong.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::testing {

struct PrometheusFamily {
    std::string type;
    std::map<std::string, double> samples;  // by name and labels as written
};

class PrometheusParser {
public:
    // Failures are test failures with the line.
    explicit PrometheusParser(std::string_view text) {
        EXPECT_TRUE(text.ends_with('\n'));
        while (!text.empty()) {
            line_ = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line_.size() + 1));
            take();
        }
        for (const auto& [name, family] : families_)
            if (family.type == "histogram") check_histogram(name, family);
    }
    const std::map<std::string, PrometheusFamily>& families() const { return families_; }
    // Of a sample as it is written, labels included; -1 when it is not there.
    double value(const std::string& sample) const {
        for (const auto& [name, family] : families_)
            if (const auto found = family.samples.find(sample); found != family.samples.end())
                return found->second;
        return -1;
    }

private:
    static bool is_name(std::string_view text) {
        if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
        for (const char c : text)
            if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))) return false;
        return true;
    }

    void take() {
        if (line_.starts_with("# HELP ")) return take_help();
        if (line_.starts_with("# TYPE ")) return take_type();
        take_sample();
    }
    void take_help() {
        const auto rest = line_.substr(7);
        current_ = rest.substr(0, rest.find(' '));
        EXPECT_TRUE(is_name(current_)) << line_;
        EXPECT_TRUE(current_.starts_with("hearth_")) << line_;
        EXPECT_FALSE(families_.contains(current_)) << "twice: " << line_;
        EXPECT_GT(rest.size(), current_.size() + 1) << "no help: " << line_;
        families_[current_];
    }
    void take_type() {
        const auto rest = line_.substr(7);
        EXPECT_EQ(rest.substr(0, rest.find(' ')), current_) << line_;
        PrometheusFamily& family = families_[current_];
        EXPECT_TRUE(family.type.empty() && family.samples.empty()) << line_;
        family.type = rest.substr(rest.find(' ') + 1);
        EXPECT_TRUE(std::set<std::string>({"counter", "gauge", "histogram"}).contains(family.type))
            << line_;
        EXPECT_EQ(family.type == "counter", current_.ends_with("_total")) << line_;
    }
    void take_sample() {
        std::size_t at = line_.find_first_of("{ ");
        ASSERT_NE(at, std::string::npos) << line_;
        const std::string name(line_.substr(0, at));
        PrometheusFamily& family = families_[current_];
        bool is_ours = name == current_;
        for (const char* suffix : {"_bucket", "_sum", "_count"})
            is_ours = is_ours || (family.type == "histogram" && name == current_ + suffix);
        EXPECT_TRUE(is_ours) << line_ << " after " << current_;
        if (line_[at] == '{') at = skip_labels(at);
        ASSERT_LT(at, line_.size()) << line_;
        ASSERT_EQ(line_[at], ' ') << line_;
        const std::string number(line_.substr(at + 1));
        char* end = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        EXPECT_TRUE(!number.empty() && *end == '\0') << line_;
        const auto inserted = family.samples.emplace(std::string(line_.substr(0, at)), value);
        EXPECT_TRUE(inserted.second) << "twice: " << line_;
    }
    // From '{' to what follows '}'.
    std::size_t skip_labels(std::size_t at) const {
        do {
            const std::size_t equals = line_.find('=', ++at);
            if (equals == std::string::npos) return line_.size();
            EXPECT_TRUE(is_name(line_.substr(at, equals - at))) << line_;
            at = equals + 1;
            EXPECT_EQ(line_[at], '"') << line_;
            for (++at; at < line_.size() && line_[at] != '"'; ++at)
                if (line_[at] == '\\') {
                    ++at;
                    EXPECT_NE(std::string_view("\\\"n").find(line_[at]), std::string::npos)
                        << line_;
                }
            ++at;
        } while (at < line_.size() && line_[at] == ',');
        EXPECT_TRUE(at < line_.size() && line_[at] == '}') << line_;
        return at + 1;
    }
    static void check_histogram(const std::string& name, const PrometheusFamily& family) {
        std::map<double, double> buckets;
        for (const auto& [sample, value] : family.samples)
            if (const auto mark = sample.find("le=\""); mark != std::string::npos)
                buckets[std::strtod(sample.c_str() + mark + 4, nullptr)] = value;
        ASSERT_FALSE(buckets.empty()) << name;
        EXPECT_TRUE(std::isinf(buckets.rbegin()->first)) << name;
        double before = 0;
        for (const auto& [bound, value] : buckets) {
            EXPECT_GE(value, before) << name << " at " << bound;
            before = value;
        }
        EXPECT_EQ(family.samples.at(name + "_count"), before) << name;
        EXPECT_TRUE(family.samples.contains(name + "_sum")) << name;
    }

    std::string_view line_;
    std::string current_;
    std::map<std::string, PrometheusFamily> families_;
};

}  // namespace hearth::testing
