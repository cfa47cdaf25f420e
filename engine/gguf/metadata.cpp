#include "engine/gguf/metadata.h"

#include <cmath>
#include <limits>
#include <utility>

#include "engine/gguf/text.h"

namespace hearth::gguf {
namespace {

Error invalid(std::string_view key, const std::string& what) {
    return Error{ErrorCode::model_invalid, "model metadata " + quoted(key) + " " + what};
}

Error missing(std::string_view key) {
    return invalid(key, "is missing; the file was not converted completely");
}

std::string type_name(const Value& value) {
    if (value.type != ValueType::array) return std::string(to_string(value.type));
    return "array of " + std::string(to_string(value.element_type));
}

Error wrong_type(std::string_view key, const Value& value, const std::string& wanted) {
    return invalid(key, "is of type " + type_name(value) + ", expected " + wanted);
}

Result<std::int64_t> to_signed(std::string_view key, std::uint64_t number) {
    if (!std::in_range<std::int64_t>(number))
        return invalid(key, "is out of range: " + std::to_string(number));
    return static_cast<std::int64_t>(number);
}

Result<std::int64_t> integer_of(std::string_view key, const Value& value, IntRange range) {
    std::int64_t number = 0;
    if (const auto* u = std::get_if<std::uint64_t>(&value.data)) {
        HEARTH_TRY(number, to_signed(key, *u));
    } else if (const auto* i = std::get_if<std::int64_t>(&value.data)) {
        number = *i;
    } else {
        return wrong_type(key, value, "an integer");
    }
    if (number < range.min || number > range.max)
        return invalid(key, "is " + std::to_string(number) + ", expected " +
                                std::to_string(range.min) + " to " + std::to_string(range.max));
    return number;
}

Result<float> number_of(std::string_view key, const Value& value) {
    const auto* number = std::get_if<double>(&value.data);
    if (number == nullptr) return wrong_type(key, value, "a floating-point number");
    if (!(std::abs(*number) <= double{std::numeric_limits<float>::max()}))
        return invalid(key, "is not a finite number of 32 bits");
    return static_cast<float>(*number);
}

Result<std::string_view> string_of(std::string_view key, const Value& value) {
    const auto* text = std::get_if<std::string>(&value.data);
    if (text == nullptr) return wrong_type(key, value, "a string");
    return std::string_view(*text);
}

template <typename From>
std::vector<float> floats_of(const std::vector<From>& from) {
    std::vector<float> out;
    out.reserve(from.size());
    for (const From number : from) out.push_back(static_cast<float>(number));
    return out;
}

}  // namespace

std::string_view to_string(ValueType type) {
    switch (type) {
        case ValueType::u8:
            return "u8";
        case ValueType::i8:
            return "i8";
        case ValueType::u16:
            return "u16";
        case ValueType::i16:
            return "i16";
        case ValueType::u32:
            return "u32";
        case ValueType::i32:
            return "i32";
        case ValueType::f32:
            return "f32";
        case ValueType::boolean:
            return "bool";
        case ValueType::string:
            return "string";
        case ValueType::array:
            return "array";
        case ValueType::u64:
            return "u64";
        case ValueType::i64:
            return "i64";
        case ValueType::f64:
            return "f64";
    }
    return "unknown";
}

const Value* Metadata::find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
}

bool Metadata::insert(std::string key, Value value) {
    return values_.try_emplace(std::move(key), std::move(value)).second;
}

Result<std::int64_t> Metadata::integer(std::string_view key, IntRange range) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    return integer_of(key, *value, range);
}

Result<std::int64_t> Metadata::integer_or(std::string_view key, IntRange range,
                                          std::int64_t fallback) const {
    const Value* value = find(key);
    if (value == nullptr) return fallback;
    return integer_of(key, *value, range);
}

Result<float> Metadata::number(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    return number_of(key, *value);
}

Result<float> Metadata::number_or(std::string_view key, float fallback) const {
    const Value* value = find(key);
    if (value == nullptr) return fallback;
    return number_of(key, *value);
}

Result<bool> Metadata::boolean_or(std::string_view key, bool fallback) const {
    const Value* value = find(key);
    if (value == nullptr) return fallback;
    const auto* flag = std::get_if<bool>(&value->data);
    if (flag == nullptr) return wrong_type(key, *value, "a bool");
    return *flag;
}

Result<std::string_view> Metadata::string(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    return string_of(key, *value);
}

Result<std::string_view> Metadata::string_or(std::string_view key,
                                             std::string_view fallback) const {
    const Value* value = find(key);
    if (value == nullptr) return fallback;
    return string_of(key, *value);
}

Result<std::span<const std::string>> Metadata::strings(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    const auto* texts = std::get_if<std::vector<std::string>>(&value->data);
    if (texts == nullptr) return wrong_type(key, *value, "an array of strings");
    return std::span<const std::string>(*texts);
}

Result<std::vector<float>> Metadata::numbers(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    if (const auto* d = std::get_if<std::vector<double>>(&value->data)) return floats_of(*d);
    if (const auto* u = std::get_if<std::vector<std::uint64_t>>(&value->data)) return floats_of(*u);
    if (const auto* i = std::get_if<std::vector<std::int64_t>>(&value->data)) return floats_of(*i);
    return wrong_type(key, *value, "an array of numbers");
}

Result<std::vector<std::int64_t>> Metadata::integers(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return missing(key);
    if (const auto* i = std::get_if<std::vector<std::int64_t>>(&value->data)) return *i;
    const auto* u = std::get_if<std::vector<std::uint64_t>>(&value->data);
    if (u == nullptr) return wrong_type(key, *value, "an array of integers");
    std::vector<std::int64_t> out;
    out.reserve(u->size());
    for (const std::uint64_t number : *u) {
        HEARTH_TRY(const auto converted, to_signed(key, number));
        out.push_back(converted);
    }
    return out;
}

}  // namespace hearth::gguf
