// Picks a backend: the only folder that names them all.
#pragma once

#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/ops/ops.h"

namespace hearth {

struct DeviceOptions {
    // "auto" and "cpu": the best kernels that this machine runs and that pass a self-check; plain
    // loops, with a warning, where there are none. "cpu-avx512", "cpu-avx2", "cpu-emulated" and
    // "reference" name one.
    std::string backend = "auto";
    int threads = 0;  // 0: the physical cores that this process may use (usable_cores())
};

// bad_input for unknown names and negative threads; device_failed when the named one cannot run
// here.
Result<std::unique_ptr<Ops>> make_ops(const DeviceOptions& options);

}  // namespace hearth
