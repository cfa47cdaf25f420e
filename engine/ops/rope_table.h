// Rotary position embedding: sine and cosine per position, made by one host function for all
// backends.
//
// Inverse frequencies are computed in double and rounded to f32; the angle is fl(position *
// frequency). The scaling kind is chosen at load and never depends on the current length. Sine and
// cosine are our own (no library function takes part), so that every machine has the same table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"

namespace hearth {

enum class RopePairing : std::uint8_t {
    interleaved,  // channels 2 i and 2 i + 1 rotate together (GGUF llama)
    halves,       // channels i and i + dims / 2 ("NeoX")
};

enum class RopeScaling : std::uint8_t { none, linear, llama3, yarn };

struct RopeConfig {
    int dims = 0;  // rotated channels of a head, even; the others pass through
    double base = 10000.0;
    RopePairing pairing = RopePairing::interleaved;
    RopeScaling scaling = RopeScaling::none;
    double factor = 1.0;              // linear, yarn
    int original_context = 0;         // yarn
    double yarn_extrapolation = 1.0;  // yarn: ext_factor
    double yarn_attention = 1.0;      // yarn: attn_factor
    double yarn_beta_fast = 32.0;
    double yarn_beta_slow = 1.0;
    std::vector<float>
        frequency_factors;  // [dims / 2] divisors (tensor rope_freqs.weight: llama3), or empty
};

class RopeTable {
public:
    // `positions` rows are made at once. bad_input when dims is odd, not positive, or factors have
    // another length.
    static Result<RopeTable> make(const RopeConfig& config, int positions);

    int dims() const { return dims_; }
    int positions() const { return positions_; }
    RopePairing pairing() const { return pairing_; }
    // [dims / 2] of a position
    std::span<const float> cosines(int position) const { return row(cosines_, position); }
    std::span<const float> sines(int position) const { return row(sines_, position); }

private:
    std::span<const float> row(const std::vector<float>& table, int position) const {
        const auto half = static_cast<std::size_t>(dims_ / 2);
        return std::span(table).subspan(static_cast<std::size_t>(position) * half, half);
    }

    int dims_ = 0;
    int positions_ = 0;
    RopePairing pairing_ = RopePairing::interleaved;
    std::vector<float> cosines_;  // [positions, dims / 2], times the attention factor of yarn
    std::vector<float> sines_;
};

}  // namespace hearth
