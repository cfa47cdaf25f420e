// Which kernels this CPU (and its operating system) can run.
#include "engine/cpu/kernels.h"

namespace hearth::cpu {

#if defined(__x86_64__)

namespace {

// The compiler's run-time support asks CPUID and XGETBV, so a system that does not save wide
// registers counts as one that lacks them.
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}

}  // namespace

const KernelTable* avx2_kernels() { return has_avx2() ? &kAvx2Kernels : nullptr; }
const KernelTable* avx512_kernels() { return has_avx512() ? &kAvx512Kernels : nullptr; }

#else

const KernelTable* avx2_kernels() { return nullptr; }
const KernelTable* avx512_kernels() { return nullptr; }

#endif

const KernelTable* emulated_kernels() { return &kEmulatedKernels; }

}  // namespace hearth::cpu
