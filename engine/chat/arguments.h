// What stands in the parentheses of a call, and its binding to the parameters of a filter, test or
// method.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/value.h"

namespace hearth::chat {

struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

// Binds by place, then by name. Throws Failure for what does not fit, or when one of the first
// `required` lacks.
class Bound {
public:
    Bound(std::string_view function, const Arguments& arguments,
          std::initializer_list<std::string_view> parameters, std::size_t required = 0);

    bool has(std::size_t at) const { return values_[at] != nullptr; }
    // The argument must be there.
    const Value& operator[](std::size_t at) const { return *values_[at]; }
    // Null when not given.
    const Value* get(std::size_t at) const { return values_[at]; }
    // Null when not given or None.
    const Value* some(std::size_t at) const {
        return values_[at] == nullptr || values_[at]->is_none() ? nullptr : values_[at];
    }
    bool flag(std::size_t at, bool fallback = false) const;
    // Throws for what is not a whole number.
    std::int64_t integer(std::size_t at, std::int64_t fallback) const;
    // Throws for what is not a string.
    std::string_view string(std::size_t at, std::string_view fallback) const;

private:
    static constexpr std::size_t kMost = 6;
    std::string_view function_;
    std::array<const Value*, kMost> values_{};
};

}  // namespace hearth::chat
