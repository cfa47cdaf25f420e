// Takes secrets out of a line before it is logged: our own tokens, and whatever follows the name of
// an authorization scheme. Lines hold none on purpose; this is for those that quote what a client
// or a library said.
#pragma once

#include <string>
#include <string_view>

namespace hearth::app {

constexpr std::string_view kRedacted = "[redacted]";

std::string redacted(std::string_view line);

}  // namespace hearth::app
