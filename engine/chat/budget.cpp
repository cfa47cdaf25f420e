// Budgets of a render; see budget.h.
#include "engine/chat/budget.h"

#include <algorithm>
#include <string>

namespace hearth::chat {
namespace {

// About 20 microseconds of evaluation between two looks at the clock.
constexpr std::int64_t kSlice = 512;

std::uintptr_t stack_position() {
    // reinterpret_cast: an address as a number, to measure a distance; never dereferenced.
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

[[noreturn]] void fail_budget(std::string message) {
    throw Failure{ErrorCode::budget_exceeded, std::move(message)};
}

}  // namespace

void MemoryAccount::need(std::size_t bytes) const {
    if (bytes > limit_ || used_ > limit_ - bytes)
        fail_budget("it builds more than " + std::to_string(limit_) +
                    " bytes of values; the template may be broken, or the input too long");
}

StackGuard::StackGuard(std::size_t limit) : start_(stack_position()), limit_(limit) {}

void StackGuard::check() const {
    const std::uintptr_t here = stack_position();
    const std::uintptr_t used = start_ > here ? start_ - here : here - start_;
    if (used > limit_)
        throw Failure{ErrorCode::template_too_deep,
                      "it nests too deeply for its stack of " + std::to_string(limit_) + " bytes"};
}

Budget::Budget(const Limits& limits)
    : limits_(limits),
      memory_(limits.memory_bytes),
      stack_(limits.stack_bytes),
      steps_left_(limits.steps),
      deadline_(std::chrono::steady_clock::now() + limits.wall) {}

void Budget::check_depth(int depth) const {
    if (depth > limits_.depth) fail_too_deep("values and calls", limits_.depth);
}

void Budget::check_clock() {
    if (steps_left_ + until_check_ < 0)
        fail_budget("it takes more than " + std::to_string(limits_.steps) + " steps");
    steps_left_ += until_check_;
    until_check_ = std::min(kSlice, steps_left_);
    steps_left_ -= until_check_;
    if (std::chrono::steady_clock::now() > deadline_)
        fail_budget("it takes longer than " + std::to_string(limits_.wall.count()) + " ms");
    if (until_check_ == 0)
        fail_budget("it takes more than " + std::to_string(limits_.steps) + " steps");
}

void fail_too_deep(std::string_view what, int limit) {
    throw Failure{ErrorCode::template_too_deep,
                  "it nests " + std::string(what) + " deeper than " + std::to_string(limit)};
}

}  // namespace hearth::chat
