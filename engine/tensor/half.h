// Conversions between f32 and the 16-bit float types, in portable integer code: exact, round to
// nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace hearth {

inline float f32_from_bf16(std::uint16_t h) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

inline std::uint16_t bf16_from_f32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U)
        return static_cast<std::uint16_t>((bits >> 16) | 64U);  // quiet NaN
    return static_cast<std::uint16_t>((bits + (0x7fffU + ((bits >> 16) & 1U))) >> 16);
}

inline float f32_from_f16(std::uint16_t h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
    const std::uint32_t exponent = (h >> 10) & 31U;
    const std::uint32_t fraction = h & 1023U;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
    if (exponent != 0)
        return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // subnormal: exact
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

inline std::uint16_t f16_from_f32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U)
        return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x1ffU));
    if (magnitude >= 0x477ff000U)
        return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds to infinity
    if (magnitude < 0x38800000U) {  // subnormal or zero: let the float addition round at 2^-24
        const float rounded = std::bit_cast<float>(magnitude) + 0.5F;  // ulp of 0.5 is 2^-24
        return static_cast<std::uint16_t>(sign |
                                          (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000U));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
}

}  // namespace hearth
