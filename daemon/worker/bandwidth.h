// How fast this machine reads memory: the limit of decoding, since every weight is read once per
// token.
#pragma once

#include "engine/base/result.h"

namespace hearth::worker {

// Bytes per second that `threads` threads read together from 1 GiB (less where memory is short),
// the best of five passes. no_memory.
Result<double> read_bandwidth(int threads);

}  // namespace hearth::worker
