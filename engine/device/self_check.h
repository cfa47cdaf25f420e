// A small case through two backends: what is asked once at start before a set of kernels is
// trusted, because a compiler or a CPU may be at fault in ways that no test here has seen.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/ops/ops.h"

namespace hearth {

// Empty when all bits are equal, else what differed: "product of Q4_1", "attention". Takes about a
// millisecond.
Result<std::string> first_difference(Ops& candidate, Ops& reference);

}  // namespace hearth
