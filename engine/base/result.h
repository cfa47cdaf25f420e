// Result<T>: a value or an Error. It has the shape of std::expected<T, Error> (C++23) and will
// become it.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/base/error.h"

namespace hearth {

template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        HEARTH_CHECK(has_value());
        return std::get<0>(state_);
    }
    const T& value() const& {
        HEARTH_CHECK(has_value());
        return std::get<0>(state_);
    }
    T&& value() && {
        HEARTH_CHECK(has_value());
        return std::get<0>(std::move(state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const& {
        HEARTH_CHECK(!has_value());
        return std::get<1>(state_);
    }
    Error&& error() && {
        HEARTH_CHECK(!has_value());
        return std::get<1>(std::move(state_));
    }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }

    const Error& error() const& {
        HEARTH_CHECK(error_.has_value());
        return *error_;
    }
    Error&& error() && {
        HEARTH_CHECK(error_.has_value());
        return *std::move(error_);
    }

private:
    std::optional<Error> error_;
};

}  // namespace hearth

#define HEARTH_CONCAT_INNER(a, b) a##b
#define HEARTH_CONCAT(a, b) HEARTH_CONCAT_INNER(a, b)

// HEARTH_TRY(const auto x, call()); — declares x with the value, or returns the error from the
// enclosing function.
#define HEARTH_TRY(declaration, expression) \
    HEARTH_TRY_INNER(HEARTH_CONCAT(hearth_result_, __LINE__), declaration, expression)
#define HEARTH_TRY_INNER(result, declaration, expression) \
    auto result = (expression);                           \
    if (!result) return std::move(result).error();        \
    declaration = *std::move(result)

// HEARTH_TRY_VOID(call()); — returns the error of a Result<void> from the enclosing function.
#define HEARTH_TRY_VOID(expression)                            \
    do {                                                       \
        if (auto hearth_result = (expression); !hearth_result) \
            return std::move(hearth_result).error();           \
    } while (false)
