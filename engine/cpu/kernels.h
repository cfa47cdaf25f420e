// The tables that the kernels_*.cpp fill. Only cpu_features.cpp takes them from here: the tables of
// a set may be entered only where the machine has it.
#pragma once

#include "engine/cpu/kernel_table.h"

namespace hearth::cpu {

extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
extern const KernelTable kEmulatedKernels;

}  // namespace hearth::cpu
