// The part of a target after the '?'.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::api {

// The value of a parameter, decoded; of the first one when it stands there twice. Nothing when it
// is absent.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// A broken escape stays as it is.
std::string percent_decoded(std::string_view text);

}  // namespace hearth::api
