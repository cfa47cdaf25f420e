// Typed lookup in the key-value part of a GGUF file. Every getter names the key in its error:
// model_invalid when the key is missing, has another type, or is out of the asked range. Integers
// convert between widths when they fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"

namespace hearth::gguf {

enum class ValueType : std::uint32_t {
    u8 = 0,
    i8 = 1,
    u16 = 2,
    i16 = 3,
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    string = 8,
    array = 9,
    u64 = 10,
    i64 = 11,
    f64 = 12,
};

// "u32", "string", …; "unknown" for a number outside the list.
std::string_view to_string(ValueType type);

struct Value {
    ValueType type;
    std::variant<std::uint64_t, std::int64_t, double, bool, std::string, std::vector<std::uint64_t>,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<bool>,
                 std::vector<std::string>>
        data;  // scalars widened; arrays (of scalars or strings) with element_type below
    ValueType element_type = ValueType::u8;  // of an array
};

struct IntRange {
    std::int64_t min;
    std::int64_t max;
};

class Metadata {
public:
    bool has(std::string_view key) const { return find(key) != nullptr; }
    const Value* find(std::string_view key) const;  // null when there is none

    Result<std::int64_t> integer(std::string_view key, IntRange range) const;
    Result<std::int64_t> integer_or(std::string_view key, IntRange range,
                                    std::int64_t fallback) const;
    Result<float> number(std::string_view key) const;  // finite
    Result<float> number_or(std::string_view key, float fallback) const;
    Result<bool> boolean_or(std::string_view key, bool fallback) const;
    Result<std::string_view> string(std::string_view key) const;
    Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const;
    Result<std::span<const std::string>> strings(std::string_view key) const;
    // An array of any float or integer type. NaN and infinity pass: what they mean is the caller's.
    Result<std::vector<float>> numbers(std::string_view key) const;
    // An array of any integer type.
    Result<std::vector<std::int64_t>> integers(std::string_view key) const;

    const std::map<std::string, Value, std::less<>>& values() const { return values_; }
    // False when the key is already there.
    bool insert(std::string key, Value value);

private:
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace hearth::gguf
