#include "ipc/protocol/fields.h"

#include <algorithm>
#include <cmath>

namespace hearth::protocol {
namespace {

// Shortest form that reads well in a sentence: 2, 0.5, -100.
std::string show(double number) {
    if (number == std::floor(number) && std::abs(number) < 1e15)
        return std::to_string(static_cast<std::int64_t>(number));
    std::string text = std::to_string(number);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace

Fields::Fields(const json::object& object, std::string path)
    : object_(object), path_(std::move(path)), known_(object.size()) {}

const json::value* Fields::value(std::string_view name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    known_[static_cast<std::size_t>(found - object_.begin())] = true;
    return found->value().is_null() ? nullptr : &found->value();
}

void Fields::allow(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) value(name);
}

void Fields::allow_all() { known_.assign(known_.size(), true); }

std::vector<std::string> Fields::unknown() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < known_.size() && names.size() < kMaxUnknown; ++i)
        if (!known_[i]) names.push_back(path_of((object_.begin() + i)->key()));
    names.insert(names.end(), unknown_in_parts_.begin(), unknown_in_parts_.end());
    return names;
}

std::string Fields::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

void Fields::fail(std::string param, std::string sentence, ErrorCode code) {
    if (failure_) return;
    failure_ = Failure{{code, std::move(sentence)}, std::move(param)};
}

void Fields::adopt(const Fields& part) {
    if (!failure_) failure_ = part.failure_;
    for (std::string& name : part.unknown())
        if (unknown_in_parts_.size() < kMaxUnknown) unknown_in_parts_.push_back(std::move(name));
}

void Fields::wrong_type(std::string_view name, std::string_view wanted) {
    const std::string path = path_of(name);
    fail(path, "'" + path + "' must be " + std::string(wanted));
}

std::optional<std::string> Fields::text(std::string_view name) {
    const json::value* found = value(name);
    if (found == nullptr) return std::nullopt;
    if (const json::string* text = found->if_string()) return std::string(*text);
    wrong_type(name, "a string");
    return std::nullopt;
}

std::string Fields::required_text(std::string_view name) {
    if (value(name) == nullptr) {
        const std::string path = path_of(name);
        fail(path, "'" + path + "' is missing; it must be a string");
        return {};
    }
    return text(name).value_or(std::string());
}

std::optional<double> Fields::number(std::string_view name, NumberRange range) {
    const json::value* found = value(name);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number()) {
        wrong_type(name, "a number");
        return std::nullopt;
    }
    const double number = found->is_double()  ? found->get_double()
                          : found->is_int64() ? static_cast<double>(found->get_int64())
                                              : static_cast<double>(found->get_uint64());
    const bool below = range.open_low ? number <= range.low : number < range.low;
    if (std::isfinite(number) && !below && number <= range.high) return number;
    wrong_type(name, "a number " + std::string(range.open_low ? "above " : "from ") +
                         show(range.low) + " to " + show(range.high));
    return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, IntegerRange range) {
    const json::value* found = value(name);
    if (found == nullptr) return std::nullopt;
    // Some clients write 1.0 for 1; any other fraction is refused.
    constexpr double kExact = 9007199254740992.0;  // 2^53
    std::optional<std::int64_t> number;
    if (found->is_int64()) number = found->get_int64();
    if (found->is_double() && std::abs(found->get_double()) <= kExact &&
        found->get_double() == std::floor(found->get_double()))
        number = static_cast<std::int64_t>(found->get_double());
    if (number && *number >= range.low && *number <= range.high) return number;
    if (range.low == IntegerRange{}.low && range.high == IntegerRange{}.high)
        wrong_type(name, "a whole number");
    else
        wrong_type(name, "a whole number from " + std::to_string(range.low) + " to " +
                             std::to_string(range.high));
    return std::nullopt;
}

std::optional<std::uint64_t> Fields::size(std::string_view name) {
    const json::value* found = value(name);
    if (found == nullptr) return std::nullopt;
    if (found->is_uint64()) return found->get_uint64();
    if (found->is_int64() && found->get_int64() >= 0)
        return static_cast<std::uint64_t>(found->get_int64());
    wrong_type(name, "a whole number of at least 0");
    return std::nullopt;
}

std::optional<bool> Fields::flag(std::string_view name) {
    const json::value* found = value(name);
    if (found == nullptr) return std::nullopt;
    if (found->is_bool()) return found->get_bool();
    wrong_type(name, "true or false");
    return std::nullopt;
}

const json::array* Fields::array(std::string_view name) {
    const json::value* found = value(name);
    if (found == nullptr) return nullptr;
    if (const json::array* array = found->if_array()) return array;
    wrong_type(name, "a list");
    return nullptr;
}

const json::object* Fields::object(std::string_view name) {
    const json::value* found = value(name);
    if (found == nullptr) return nullptr;
    if (const json::object* object = found->if_object()) return object;
    wrong_type(name, "an object");
    return nullptr;
}

}  // namespace hearth::protocol
