// Reads f32 values from file bytes, which may lie at any address.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace hearth::model {

inline std::vector<float> read_floats(std::span<const std::byte> bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

}  // namespace hearth::model
