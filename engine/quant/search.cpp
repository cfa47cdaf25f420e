#include "engine/quant/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/quant/rounding.h"
#include "engine/tensor/half.h"

namespace hearth::quant {
namespace {

constexpr int kSubBlock = 32;
constexpr int kTopScale = 63;  // 6 bits

// Starts of the search: the range of integers is stretched by up to one step either way, since
// clipping the largest element a little often costs less than rounding all others coarsely.
// Seven starts instead of thirteen raise the error of normally distributed weights by a thousandth
// and halve the time.
constexpr int kStarts = 7;
float stretch(int start) { return static_cast<float>(start - kStarts / 2) * (1.0F / 3.0F); }

// Sums of one sub-block that a least-squares fit needs; double, so that squares of large weights
// stay finite.
struct Sums {
    double w = 0, q = 0, qq = 0, x = 0, qx = 0, xx = 0;

    void add(double weight, double integer, double value) {
        w += weight;
        q += weight * integer;
        qq += weight * integer * integer;
        x += weight * value;
        qx += weight * integer * value;
        xx += weight * value * value;
    }
    // sum(w (scale q - min - x)^2)
    double error(AffineFit fit) const {
        const double a = fit.scale;
        const double b = fit.min;
        return a * a * qq + b * b * w + xx - 2 * (a * b * q + a * qx - b * x);
    }
};

float to_finite(double value) {
    constexpr double kMax = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -kMax, kMax));
}

// Minimises sum(w (scale q - min - x)^2); a negative minimum is not allowed and becomes 0.
AffineFit solve(const Sums& s) {
    const double determinant = s.w * s.qq - s.q * s.q;
    if (determinant > 0) {
        const double scale = (s.w * s.qx - s.q * s.x) / determinant;
        const double min = (s.q * s.qx - s.qq * s.x) / determinant;
        if (scale > 0 && min >= 0) return {to_finite(scale), to_finite(min)};
    }
    if (s.qq > 0 && s.qx > 0) return {to_finite(s.qx / s.qq), 0.0F};
    return {0.0F, 0.0F};
}

int integer_for(float x, AffineFit fit, float inverse, int top) {
    return nearest((x + fit.min) * inverse, 0, top);
}

Sums sums_for(std::span<const float> x, std::span<const float> weight, AffineFit fit, int top) {
    const float inverse = inverse_or_zero(fit.scale);
    Sums sums;
    for (std::size_t i = 0; i < x.size(); ++i)
        sums.add(weight[i], integer_for(x[i], fit, inverse, top), x[i]);
    return sums;
}

double error_of(std::span<const float> x, std::span<const float> weight, AffineFit fit, int top) {
    const float inverse = inverse_or_zero(fit.scale);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const int q = integer_for(x[i], fit, inverse, top);
        const double miss = double{fit.scale} * q - double{fit.min} - double{x[i]};
        sum += weight[i] * miss * miss;
    }
    return sum;
}

// The state of a super-block while its two shared scales are being chosen.
struct Rounding {
    std::span<const float, 256> x;
    std::span<const float, 256> weight;
    int top;

    std::span<const float> part(std::size_t i) const { return x.subspan(kSubBlock * i, kSubBlock); }
    std::span<const float> weights(std::size_t i) const {
        return weight.subspan(kSubBlock * i, kSubBlock);
    }
};

// Rounds the scales and minima to six bits: the nearest and their neighbours are tried, the best
// pair wins.
double choose_scales(const Rounding& r, std::span<const AffineFit, 8> wanted,
                     AffineSuperBlock& block) {
    const float d = f32_from_f16(block.d);
    const float dmin = f32_from_f16(block.dmin);
    double total = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        const int scale = nearest(wanted[i].scale * inverse_or_zero(d), 0, kTopScale);
        const int min = nearest(wanted[i].min * inverse_or_zero(dmin), 0, kTopScale);
        double best = std::numeric_limits<double>::infinity();
        for (int s = std::max(scale - 1, 0); s <= std::min(scale + 1, kTopScale); ++s) {
            for (int m = std::max(min - 1, 0); m <= std::min(min + 1, kTopScale); ++m) {
                const AffineFit fit = {d * static_cast<float>(s), dmin * static_cast<float>(m)};
                const double error = error_of(r.part(i), r.weights(i), fit, r.top);
                if (error >= best) continue;
                best = error;
                block.scale[i] = static_cast<std::uint8_t>(s);
                block.min[i] = static_cast<std::uint8_t>(m);
            }
        }
        total += best;
    }
    return total;
}

void choose_integers(const Rounding& r, AffineSuperBlock& block) {
    const float d = f32_from_f16(block.d);
    const float dmin = f32_from_f16(block.dmin);
    for (std::size_t i = 0; i < 8; ++i) {
        const AffineFit fit = {d * static_cast<float>(block.scale[i]),
                               dmin * static_cast<float>(block.min[i])};
        const float inverse = inverse_or_zero(fit.scale);
        for (std::size_t j = kSubBlock * i; j < kSubBlock * (i + 1); ++j)
            block.q[j] = static_cast<std::uint8_t>(integer_for(r.x[j], fit, inverse, r.top));
    }
}

// The best d and dmin for the integers of a block, by least squares over all 256 elements; the
// block's own values where there is no such solution.
AffineFit best_shared(const Rounding& r, const AffineSuperBlock& block) {
    double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;  // a = scale q, b = min, model d a - dmin b
    for (std::size_t j = 0; j < 256; ++j) {
        const double w = r.weight[j];
        const double a = block.scale[j / kSubBlock] * double{static_cast<float>(block.q[j])};
        const double b = block.min[j / kSubBlock];
        aa += w * a * a;
        ab += w * a * b;
        bb += w * b * b;
        ax += w * a * r.x[j];
        bx += w * b * r.x[j];
    }
    const double determinant = aa * bb - ab * ab;
    const AffineFit own = {f32_from_f16(block.d), f32_from_f16(block.dmin)};
    if (!(determinant > 0)) return own;
    const double d = (ax * bb - ab * bx) / determinant;
    const double dmin = (ax * ab - aa * bx) / determinant;
    if (!(d > 0 && dmin >= 0)) return own;
    return {to_finite(d), to_finite(dmin)};
}

}  // namespace

void importance(std::span<const float> x, std::span<float> out) {
    double squares = 0;
    for (const float value : x) squares += double{value} * double{value};
    const auto typical = static_cast<float>(std::sqrt(squares / static_cast<double>(x.size())));
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = std::abs(x[i]) + typical;
}

AffineFit fit_affine(std::span<const float> x, std::span<const float> weight, int top) {
    const auto [low_end, high_end] = extremes(x.data(), static_cast<int>(x.size()));
    const float low = std::min(low_end, 0.0F);
    if (high_end <= low) return {0.0F, -low};
    const float range = to_finite(double{high_end} - double{low});

    AffineFit best = {range / static_cast<float>(top), -low};
    double best_error = error_of(x, weight, best, top);
    for (int start = 0; start < kStarts; ++start) {
        AffineFit fit = {range / (static_cast<float>(top) + stretch(start)), -low};
        fit = solve(sums_for(x, weight, fit, top));
        const Sums sums = sums_for(x, weight, fit, top);
        fit = solve(sums);
        const double error = sums.error(fit);
        if (error < best_error) {
            best_error = error;
            best = fit;
        }
    }
    return best;
}

float fit_symmetric(std::span<const float> x, std::span<const float> weight, int reach) {
    const float largest = signed_max(x.data(), static_cast<int>(x.size()));
    if (largest == 0.0F) return 0.0F;
    float best = largest / -static_cast<float>(reach);
    double best_gain = 0;
    for (int start = 0; start < kStarts; ++start) {
        float scale = largest / -(static_cast<float>(reach) + stretch(start));
        double gain =
            0;  // by how much rounding with the best scale for these integers beats all zeros
        for (int pass = 0; pass < 2; ++pass) {
            const float inverse = inverse_or_zero(scale);
            Sums sums;
            for (std::size_t i = 0; i < x.size(); ++i)
                sums.add(weight[i], nearest(x[i] * inverse, -reach, reach - 1), x[i]);
            if (!(sums.qq > 0)) break;
            scale = to_finite(sums.qx / sums.qq);
            gain = sums.qx * sums.qx / sums.qq;
        }
        if (gain > best_gain) {
            best_gain = gain;
            best = scale;
        }
    }
    return best;
}

AffineSuperBlock round_affine(std::span<const float, 256> x, int top) {
    std::array<float, 256> weight;
    std::array<AffineFit, 8> wanted = {};
    const Rounding rounding = {.x = x, .weight = weight, .top = top};
    AffineFit largest = {0.0F, 0.0F};
    for (std::size_t i = 0; i < 8; ++i) {
        importance(rounding.part(i), std::span(weight).subspan(kSubBlock * i, kSubBlock));
        wanted[i] = fit_affine(rounding.part(i), rounding.weights(i), top);
        largest.scale = std::max(largest.scale, wanted[i].scale);
        largest.min = std::max(largest.min, wanted[i].min);
    }

    AffineSuperBlock block = {};
    block.d = f16_from_f32(held_to_f16(largest.scale / kTopScale));
    block.dmin = f16_from_f32(held_to_f16(largest.min / kTopScale));
    const double error = choose_scales(rounding, wanted, block);
    choose_integers(rounding, block);

    // Once more with the best shared scales for these integers; a second time gains less than a
    // thousandth of the error.
    const AffineFit shared = best_shared(rounding, block);
    AffineSuperBlock better = block;
    better.d = f16_from_f32(held_to_f16(shared.scale));
    better.dmin = f16_from_f32(held_to_f16(shared.min));
    if (choose_scales(rounding, wanted, better) >= error) return block;
    choose_integers(rounding, better);
    return better;
}

}  // namespace hearth::quant
