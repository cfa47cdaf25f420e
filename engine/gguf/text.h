// Foreign names inside error messages: short, printable, in quotes.
#pragma once

#include <string>
#include <string_view>

namespace hearth::gguf {

// At most 80 bytes of `name`; bytes outside printable ASCII are written as \xNN.
std::string quoted(std::string_view name);

}  // namespace hearth::gguf
