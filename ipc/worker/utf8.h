// Text that must pass as UTF-8: error messages quote foreign bytes, log lines are foreign
// altogether.
#pragma once

#include <string>
#include <string_view>

namespace hearth::wire {

// Every byte that is not part of a well-formed character (RFC 3629: no overlong forms, no
// surrogates) becomes U+FFFD.
std::string repair_utf8(std::string_view text);

}  // namespace hearth::wire
