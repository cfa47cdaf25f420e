// One measured quantity over time, kept in rings of falling resolution: the last minute in quarters
// of a second, the last day in steps of 288 seconds. Time is counted in bins of kBin since the
// daemon's start; what bin it is, the caller says, so nothing here knows a clock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hearth::metrics {

constexpr std::chrono::milliseconds kBin{250};

struct Window {
    std::string_view name;
    int step;   // bins
    int count;  // steps
};
constexpr std::array<Window, 5> kWindows = {
    {{"1m", 1, 240}, {"5m", 4, 300}, {"30m", 24, 300}, {"6h", 288, 300}, {"24h", 1152, 300}}};

// What the time means in which nothing was recorded.
enum class Idle : std::uint8_t {
    zero,  // there was nothing to measure: 0, as for a speed. At most one value per bin.
    gap,   // nobody looked: no value. Any number of values per bin.
};

struct Point {
    double min = 0;
    double mean = 0;
    double max = 0;
};
using Points = std::vector<std::optional<Point>>;

class Series {
public:
    explicit Series(Idle idle) : idle_(idle) {}

    // Bins may come late, but only within a ring's length.
    void add(std::int64_t bin, double value);

    // The window's steps, oldest first; the last one holds bin `now - 1`, the newest that is over.
    // Steps before the daemon's start have no value.
    Points read(const Window& window, std::int64_t now) const;
    // The first bin of the oldest step; negative when that is before the daemon's start.
    static std::int64_t start(const Window& window, std::int64_t now);

    static constexpr std::size_t max_bytes();
    std::size_t bytes() const;

private:
    struct Cell {
        double sum = 0;
        float min = 0;
        float max = 0;
        std::uint32_t count = 0;
    };
    struct Ring {
        std::vector<Cell> cells;   // made with the first value
        std::int64_t newest = -1;  // step
    };

    static void put(Ring& ring, const Window& window, std::int64_t step, double value);
    std::optional<Point> point(const Ring& ring, std::int64_t step, std::int64_t bins) const;

    Idle idle_;
    std::array<Ring, kWindows.size()> rings_;
};

constexpr std::size_t Series::max_bytes() {
    std::size_t bytes = 0;
    for (const Window& window : kWindows)
        bytes += static_cast<std::size_t>(window.count) * sizeof(Cell);
    return bytes;
}

}  // namespace hearth::metrics
