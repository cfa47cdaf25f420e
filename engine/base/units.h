// The one checked-arithmetic helper: every size, offset, padding and product of foreign numbers
// goes through Checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hearth {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kGiB = 1024 * kMiB;

// An unsigned number that remembers overflow. Once a step overflowed, every later step has
// overflowed too, so that one test at the end is enough.
class Checked {
public:
    constexpr Checked(std::uint64_t value) : value_(value) {}

    constexpr Checked operator+(Checked other) const {
        std::uint64_t sum = 0;
        const bool bad = __builtin_add_overflow(value_, other.value_, &sum);
        return Checked(sum, bad || overflowed_ || other.overflowed_);
    }
    constexpr Checked operator*(Checked other) const {
        std::uint64_t product = 0;
        const bool bad = __builtin_mul_overflow(value_, other.value_, &product);
        return Checked(product, bad || overflowed_ || other.overflowed_);
    }
    // Rounds up to a multiple of `alignment`, a power of two greater than zero.
    constexpr Checked align_up(std::uint64_t alignment) const {
        const Checked padded = *this + (alignment - 1);
        return Checked(padded.value_ & ~(alignment - 1), padded.overflowed_);
    }
    // Empty when a step overflowed.
    constexpr std::optional<std::uint64_t> value() const {
        if (overflowed_) return std::nullopt;
        return value_;
    }
    // True when no step overflowed and the number is at most `limit`.
    constexpr bool at_most(std::uint64_t limit) const { return !overflowed_ && value_ <= limit; }

private:
    constexpr Checked(std::uint64_t value, bool overflowed)
        : value_(value), overflowed_(overflowed) {}

    std::uint64_t value_;
    bool overflowed_ = false;
};

// For our own sizes, which cannot overflow.
constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}
template <typename T>
constexpr T ceil_div(T value, T divisor) {
    return (value + divisor - 1) / divisor;
}

}  // namespace hearth
