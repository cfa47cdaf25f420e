// The times between tokens of the last second, for their median and tail.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace hearth::metrics {

class GapWindow {
public:
    void add(double milliseconds);
    // A bin is over: what was added four bins ago is forgotten.
    void next_bin();
    // Nearest rank; nothing when there are no gaps. `share` is 0.5 for the median.
    std::optional<double> percentile(double share) const;

private:
    static constexpr std::size_t kBins = 4;
    // Per bin; a machine that makes more than 16,000 tokens a second is described well enough by
    // the first ones.
    static constexpr std::size_t kMaxGaps = 4096;
    std::array<std::vector<double>, kBins> bins_;
    std::size_t current_ = 0;
};

}  // namespace hearth::metrics
