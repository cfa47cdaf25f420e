// Binding of arguments; see arguments.h.
#include "engine/chat/arguments.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/chat/failure.h"
#include "engine/chat/node.h"
#include "engine/chat/operators.h"

namespace hearth::chat {

Bound::Bound(std::string_view function, const Arguments& arguments,
             std::initializer_list<std::string_view> parameters, std::size_t required)
    : function_(function) {
    HEARTH_CHECK(parameters.size() <= kMost);
    const std::string name(function);
    if (arguments.positional.size() > parameters.size())
        fail(name + "() takes at most " + std::to_string(parameters.size()) + " arguments");
    for (std::size_t i = 0; i < arguments.positional.size(); ++i)
        values_[i] = &arguments.positional[i];
    for (const auto& [key, value] : arguments.named) {
        const auto* found = std::find(parameters.begin(), parameters.end(), key);
        if (found == parameters.end())
            fail(name + "() got an unexpected keyword argument '" + key + "'");
        const auto at = static_cast<std::size_t>(found - parameters.begin());
        if (values_[at] != nullptr)
            fail(name + "() got multiple values for argument '" + key + "'");
        values_[at] = &value;
    }
    for (std::size_t i = 0; i < required; ++i)
        if (values_[i] == nullptr)
            fail(name + "() is missing the argument '" + std::string(parameters.begin()[i]) + "'");
}

bool Bound::flag(std::size_t at, bool fallback) const {
    return values_[at] == nullptr ? fallback : truth(*values_[at]);
}

std::int64_t Bound::integer(std::size_t at, std::int64_t fallback) const {
    if (values_[at] == nullptr) return fallback;
    demand_defined(*values_[at]);
    if (!is_whole(*values_[at]))
        fail(std::string(function_) + "(): '" + type_name(*values_[at]) +
             "' object cannot be interpreted as an integer");
    return ValueAccess::integer(*values_[at]);
}

std::string_view Bound::string(std::size_t at, std::string_view fallback) const {
    if (values_[at] == nullptr) return fallback;
    demand_defined(*values_[at]);
    if (values_[at]->kind() != Kind::string)
        fail(std::string(function_) + "() needs a string, not " + type_name(*values_[at]));
    return values_[at]->as_string();
}

}  // namespace hearth::chat
