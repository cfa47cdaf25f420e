// What a file that is not GGUF looks like, for an error message that a person can act on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hearth::gguf {

// Completes "this is not a GGUF file: ", for example with "it is empty". Looks at the first bytes
// only and decodes nothing.
std::string guess_format(std::span<const std::byte> bytes);

}  // namespace hearth::gguf
