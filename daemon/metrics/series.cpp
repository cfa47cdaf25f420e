#include "daemon/metrics/series.h"

#include <algorithm>

namespace hearth::metrics {
namespace {

// The step that the newest complete bin lies in; -1 when none is complete.
std::int64_t last_step(const Window& window, std::int64_t now) {
    return now <= 0 ? -1 : (now - 1) / window.step;
}

}  // namespace

void Series::add(std::int64_t bin, double value) {
    for (std::size_t i = 0; i < kWindows.size(); ++i)
        put(rings_[i], kWindows[i], bin / kWindows[i].step, value);
}

void Series::put(Ring& ring, const Window& window, std::int64_t step, double value) {
    const std::int64_t size = window.count;
    if (ring.cells.empty()) ring.cells.resize(static_cast<std::size_t>(size));
    if (step <= ring.newest - size) return;  // over already
    // Steps in which nothing was recorded still hold what was there a round ago.
    for (std::int64_t passed = std::max(ring.newest + 1, step - size + 1); passed <= step; ++passed)
        ring.cells[static_cast<std::size_t>(passed % size)] = {};
    ring.newest = std::max(ring.newest, step);
    Cell& cell = ring.cells[static_cast<std::size_t>(step % size)];
    const auto rounded = static_cast<float>(value);
    cell.min = cell.count == 0 ? rounded : std::min(cell.min, rounded);
    cell.max = cell.count == 0 ? rounded : std::max(cell.max, rounded);
    cell.sum += value;
    ++cell.count;
}

std::int64_t Series::start(const Window& window, std::int64_t now) {
    return (last_step(window, now) - window.count + 1) * window.step;
}

Points Series::read(const Window& window, std::int64_t now) const {
    std::size_t index = 0;
    while (index + 1 < kWindows.size() && kWindows[index].name != window.name) ++index;
    Points points;
    const std::int64_t last = last_step(window, now);
    for (std::int64_t step = last - window.count + 1; step <= last; ++step) {
        const std::int64_t begin = step * window.step;
        const std::int64_t bins = std::min<std::int64_t>(window.step, now - begin);
        points.push_back(begin < 0 ? std::nullopt : point(rings_[index], step, bins));
    }
    return points;
}

// `bins` of the step are over.
std::optional<Point> Series::point(const Ring& ring, std::int64_t step, std::int64_t bins) const {
    const auto size = static_cast<std::int64_t>(ring.cells.size());
    const bool is_held = step <= ring.newest && step > ring.newest - size;
    const Cell cell = is_held ? ring.cells[static_cast<std::size_t>(step % size)] : Cell{};
    if (idle_ == Idle::gap) {
        if (cell.count == 0) return std::nullopt;
        return Point{cell.min, cell.sum / cell.count, cell.max};
    }
    Point point{cell.min, cell.sum / static_cast<double>(bins), cell.max};
    if (cell.count < bins) {
        point.min = std::min(point.min, 0.0);
        point.max = std::max(point.max, 0.0);
    }
    return point;
}

std::size_t Series::bytes() const {
    std::size_t bytes = 0;
    for (const Ring& ring : rings_) bytes += ring.cells.size() * sizeof(Cell);
    return bytes;
}

}  // namespace hearth::metrics
