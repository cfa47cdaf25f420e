// Ops::write and Ops::read where the device's memory is the host's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/base/check.h"
#include "engine/ops/args.h"

namespace hearth {

inline void copy_from_host(std::span<const float> from, View to) {
    const auto cols = static_cast<std::size_t>(to.cols);
    HEARTH_CHECK(from.size() == static_cast<std::size_t>(to.rows) * cols);
    for (int i = 0; i < to.rows; ++i)
        std::ranges::copy(from.subspan(static_cast<std::size_t>(i) * cols, cols), to.row(i));
}

inline void copy_to_host(View from, std::span<float> to) {
    const auto cols = static_cast<std::size_t>(from.cols);
    HEARTH_CHECK(to.size() == static_cast<std::size_t>(from.rows) * cols);
    for (int i = 0; i < from.rows; ++i)
        std::copy_n(from.row(i), cols, to.begin() + i * static_cast<std::ptrdiff_t>(cols));
}

}  // namespace hearth
