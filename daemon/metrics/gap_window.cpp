#include "daemon/metrics/gap_window.h"

#include <algorithm>
#include <cmath>

namespace hearth::metrics {

void GapWindow::add(double milliseconds) {
    if (bins_[current_].size() < kMaxGaps) bins_[current_].push_back(milliseconds);
}

void GapWindow::next_bin() {
    current_ = (current_ + 1) % kBins;
    bins_[current_].clear();
}

std::optional<double> GapWindow::percentile(double share) const {
    std::vector<double> all;
    for (const auto& bin : bins_) all.insert(all.end(), bin.begin(), bin.end());
    if (all.empty()) return std::nullopt;
    const double rank = std::ceil(share * static_cast<double>(all.size()));
    const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
    std::ranges::nth_element(all, all.begin() + index);
    return all[static_cast<std::size_t>(index)];
}

}  // namespace hearth::metrics
