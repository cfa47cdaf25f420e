// The ranges of the sampling parameters.
#include "engine/sample/params.h"

#include <string>
#include <string_view>

namespace hearth::sample {

namespace {

struct Bounds {
    double min;
    double max;
    bool above_min = false;  // the minimum itself is not allowed
};

std::string text(double value) {
    std::string digits = std::to_string(value);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return digits;
}

// Written so that NaN fails.
Result<void> in_range(std::string_view field, double value, Bounds bounds) {
    const bool high_enough = bounds.above_min ? value > bounds.min : value >= bounds.min;
    if (high_enough && value <= bounds.max) return {};
    return Error{ErrorCode::bad_input,
                 std::string(field) + " must be " + (bounds.above_min ? "above " : "from ") +
                     text(bounds.min) + (bounds.above_min ? " and at most " : " to ") +
                     text(bounds.max) + ", but is " + text(value)};
}

constexpr std::size_t kMaxBiases = 1024;

Result<void> check_bias(const Params& params, int vocabulary) {
    if (params.logit_bias.size() > kMaxBiases)
        return Error{ErrorCode::bad_input, "logit_bias has " +
                                               std::to_string(params.logit_bias.size()) +
                                               " entries; at most 1024 are allowed"};
    for (const auto& [token, bias] : params.logit_bias) {
        if (token < 0 || token >= vocabulary)
            return Error{ErrorCode::bad_input, "logit_bias names token " + std::to_string(token) +
                                                   ", but the vocabulary has " +
                                                   std::to_string(vocabulary) + " tokens"};
        HEARTH_TRY_VOID(in_range("logit_bias", bias, {-100, 100}));
    }
    return {};
}

}  // namespace

Result<void> validate(const Params& params, int vocabulary) {
    HEARTH_TRY_VOID(in_range("temperature", params.temperature, {0, 2}));
    HEARTH_TRY_VOID(in_range("top_k", params.top_k, {0, static_cast<double>(vocabulary)}));
    HEARTH_TRY_VOID(in_range("top_p", params.top_p, {0, 1, true}));
    HEARTH_TRY_VOID(in_range("min_p", params.min_p, {0, 1}));
    HEARTH_TRY_VOID(in_range("repetition_penalty", params.repetition_penalty, {0, 2, true}));
    HEARTH_TRY_VOID(in_range("presence_penalty", params.presence_penalty, {-2, 2}));
    HEARTH_TRY_VOID(in_range("frequency_penalty", params.frequency_penalty, {-2, 2}));
    return check_bias(params, vocabulary);
}

}  // namespace hearth::sample
