// Ops on the CPU: splits the work over threads and calls the kernels of one instruction set.
// Equal to the reference bit for bit, whatever the set and the number of threads.
#pragma once

#include <memory>

#include "engine/cpu/kernel_table.h"
#include "engine/ops/ops.h"

namespace hearth::cpu {

// `kernels` must be runnable here (cpu_features.h) and outlive the result.
std::unique_ptr<Ops> make_cpu_ops(const KernelTable& kernels, int threads);

}  // namespace hearth::cpu
