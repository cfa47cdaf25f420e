// Names a model instance, so that state stored for one is never read by another.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hearth::generate {

// Change it whenever the bits of logits or of stored keys and values change.
constexpr int kNumericsVersion = 1;

// 32 hexadecimal digits that depend on every byte of the file and on `settings` (cache types, …).
// Not for security: a file made to collide is possible, and harms only whoever loads it.
std::string fingerprint(std::span<const std::byte> file, std::string_view settings);

}  // namespace hearth::generate
