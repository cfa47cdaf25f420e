// UTF-8 as JSON demands it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::protocol {

// Offset of the first byte that is not UTF-8 (overlong forms, surrogates and numbers above U+10FFFF
// included), or nothing when all of it is.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// Every byte that does not belong to a whole character becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace hearth::protocol
