// Every op as the obvious loop: the teacher, and the oracle that fast backends are compared with
// bit for bit. It keeps the file's blocks, uses one thread and no vector instructions of its own.
#pragma once

#include <memory>

#include "engine/ops/ops.h"

namespace hearth {

// Keys and values may be f32 or f16; another type makes allocate_kv return bad_input.
std::unique_ptr<Ops> make_reference_ops();

}  // namespace hearth
