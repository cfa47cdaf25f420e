// Rings of falling resolution against a list of all values, and what bounds them.
#include "daemon/metrics/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "daemon/metrics/gap_window.h"
#include "daemon/metrics/history.h"

using namespace hearth::metrics;

namespace {

// What Series promises, from the values themselves.
class Oracle {
public:
    explicit Oracle(Idle idle) : idle_(idle) {}
    void add(std::int64_t bin, double value) { values_[bin].push_back(value); }

    std::optional<Point> step(const Window& window, std::int64_t step, std::int64_t now) const {
        const std::int64_t begin = step * window.step;
        if (begin < 0) return std::nullopt;
        std::vector<double> found;
        std::int64_t over = 0;
        for (std::int64_t bin = begin; bin < begin + window.step; ++bin) {
            over += bin < now ? 1 : 0;
            const auto values = values_.find(bin);
            if (values != values_.end())
                found.insert(found.end(), values->second.begin(), values->second.end());
            else if (idle_ == Idle::zero && bin < now)
                found.push_back(0);
        }
        if (found.empty()) return std::nullopt;
        double sum = 0;
        for (const double value : found) sum += value;
        const double count = static_cast<double>(idle_ == Idle::zero ? over : found.size());
        return Point{*std::ranges::min_element(found), sum / count,
                     *std::ranges::max_element(found)};
    }

private:
    Idle idle_;
    std::map<std::int64_t, std::vector<double>> values_;
};

void expect_equal(const Series& series, const Oracle& oracle, std::int64_t now) {
    for (const Window& window : kWindows) {
        const Points points = series.read(window, now);
        ASSERT_EQ(points.size(), static_cast<std::size_t>(window.count));
        const std::int64_t first = Series::start(window, now) / window.step;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto step = first + static_cast<std::int64_t>(i);
            const auto wanted = oracle.step(window, step, now);
            ASSERT_EQ(points[i].has_value(), wanted.has_value())
                << window.name << " step " << step << " at " << now;
            if (!wanted) continue;
            ASSERT_FLOAT_EQ(static_cast<float>(points[i]->min), static_cast<float>(wanted->min));
            ASSERT_FLOAT_EQ(static_cast<float>(points[i]->max), static_cast<float>(wanted->max));
            ASSERT_NEAR(points[i]->mean, wanted->mean, 1e-9 * (1 + wanted->mean));
        }
    }
}

// Work comes in bursts with pauses of all lengths, up to more than a day.
void run_bursts(Idle idle, std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](int limit) {
        return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    Series series(idle);
    Oracle oracle(idle);
    std::int64_t now = 0;
    constexpr int kPauses[] = {1, 3, 50, 400, 5000, 100'000, 400'000};
    for (int burst = 0; burst < 40; ++burst) {
        now += below(kPauses[below(7)]);
        for (int length = below(300); length > 0; --length, ++now) {
            const int values = idle == Idle::zero ? 1 : below(3);
            for (int i = 0; i < values; ++i) {
                const double value = below(1000) / 7.0;
                series.add(now, value);
                oracle.add(now, value);
            }
        }
        expect_equal(series, oracle, now);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Series, EqualsAListOfAllValuesWhereIdleIsZero) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) run_bursts(Idle::zero, seed);
}

TEST(Series, EqualsAListOfAllValuesWhereIdleIsAGap) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) run_bursts(Idle::gap, seed);
}

TEST(Series, APauseIsNeverTheLastValue) {
    Series speed(Idle::zero);
    Series memory(Idle::gap);
    speed.add(10, 80);
    memory.add(10, 5e9);
    const Points speeds = speed.read(kWindows[0], 200);
    const Points memories = memory.read(kWindows[0], 200);
    for (std::size_t i = 0; i < speeds.size(); ++i) {
        const std::int64_t bin = static_cast<std::int64_t>(i) - 40;
        ASSERT_EQ(speeds[i].has_value(), bin >= 0) << bin;
        ASSERT_EQ(memories[i].has_value(), bin == 10) << bin;
        ASSERT_TRUE(bin < 0 || speeds[i]->mean == (bin == 10 ? 80 : 0)) << bin;
    }
    EXPECT_NEAR(memories[50]->mean, 5e9, 500) << "float holds 24 bits";
}

TEST(Series, BeforeTheFirstBinIsOverThereIsNothing) {
    Series series(Idle::zero);
    for (const Window& window : kWindows)
        for (const auto& point : series.read(window, 0)) EXPECT_FALSE(point);
    EXPECT_EQ(series.bytes(), 0U);
}

TEST(History, StaysWithinItsBytesWhateverModelsCome) {
    History history;
    for (std::int64_t bin = 0; bin < 100; ++bin)
        for (std::size_t metric = 0; metric < kMetrics; ++metric) {
            history.add(static_cast<Metric>(metric), bin, 1);
            if (metric < kModelMetrics)
                history.add_for("model-" + std::to_string(bin), static_cast<Metric>(metric), bin,
                                1);
            history.mark({0.25 * static_cast<double>(bin), "start", "m"});
        }
    EXPECT_EQ(history.bytes(), History::kMaxBytes);
    EXPECT_EQ(History::kMaxBytes, 1'762'560U) << "the figure in the documentation";
    std::set<std::string> models;
    for (const NamedSeries& series : history.series()) models.insert(series.model);
    EXPECT_EQ(models.size(), History::kMaxModels + 1);
    EXPECT_TRUE(models.contains("model-99"));
    EXPECT_EQ(history.marks_since(0).size(), History::kMaxMarks);
    EXPECT_EQ(history.marks_since(24.75).size(), kMetrics);
}

TEST(GapWindow, KnowsTheLastFourBins) {
    GapWindow gaps;
    EXPECT_FALSE(gaps.percentile(0.5));
    for (int i = 1; i <= 100; ++i) gaps.add(i);
    EXPECT_EQ(gaps.percentile(0.5), 50);
    EXPECT_EQ(gaps.percentile(0.95), 95);
    EXPECT_EQ(gaps.percentile(1.0), 100);
    for (int bin = 0; bin < 3; ++bin) gaps.next_bin();
    gaps.add(1000);
    EXPECT_EQ(gaps.percentile(1.0), 1000);
    gaps.next_bin();
    EXPECT_EQ(gaps.percentile(0.0), 1000) << "the hundred are forgotten";
}

}  // namespace
