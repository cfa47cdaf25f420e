// A stable sort that keeps inside its bounds whatever the comparison says (NaN has no order) and
// may be left by an exception. std::sort promises neither, and std::stable_sort uses what the
// library itself calls deprecated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace hearth::chat {

// less(a, b): whether a comes before b.
template <typename T, typename Less>
void merge_sort(std::vector<T>& items, Less less) {
    const std::size_t count = items.size();
    std::vector<T> merged;
    merged.reserve(count);
    for (std::size_t run = 1; run < count; run *= 2) {
        merged.clear();
        for (std::size_t begin = 0; begin < count; begin += 2 * run) {
            std::size_t left = begin;
            const std::size_t middle = std::min(begin + run, count);
            std::size_t right = middle;
            const std::size_t end = std::min(begin + 2 * run, count);
            while (left < middle || right < end) {
                const bool from_right =
                    left == middle || (right < end && less(items[right], items[left]));
                merged.push_back(std::move(items[from_right ? right++ : left++]));
            }
        }
        std::swap(items, merged);
    }
}

}  // namespace hearth::chat
