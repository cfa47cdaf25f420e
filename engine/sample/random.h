// Randomness without state: a number is a function of (seed, choice, position), so a generation can
// be interrupted, continued or computed in another batch and still draws the same numbers. Not for
// secrets.
#pragma once

#include <cstdint>

namespace hearth::sample {

// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014, with the constants of Stafford's mix 13): every input bit changes every output
// bit with probability near one half.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

struct RandomKey {
    std::uint64_t seed = 0;
    std::uint32_t choice = 0;
    std::uint32_t position = 0;  // of the token that is drawn, in its sequence
};

constexpr std::uint64_t random_bits(const RandomKey& key) {
    constexpr std::uint64_t kGolden =
        0x9e3779b97f4a7c15U;  // 2^64 / golden ratio, SplitMix64's step
    const std::uint64_t counter = (std::uint64_t{key.choice} << 32U) | key.position;
    return mix_bits(mix_bits(key.seed + kGolden) + (counter + 1) * kGolden);
}

// In [0, 1), a multiple of 2^-53.
constexpr double random_unit(const RandomKey& key) {
    return static_cast<double>(random_bits(key) >> 11U) * 0x1p-53;
}

}  // namespace hearth::sample
