// The kernels in the words of simd_emulated.h.
#include "engine/cpu/kernels.h"
#include "engine/cpu/simd_emulated.h"

#define HEARTH_UNROLL  // its loops over arrays only grow

namespace hearth::cpu {
namespace {
namespace simd = simd_emulated;
}  // namespace
}  // namespace hearth::cpu

#include "engine/cpu/kernels_inl.h"

namespace hearth::cpu {

constinit const KernelTable kEmulatedKernels = make_table("emulated 512-bit");

}  // namespace hearth::cpu
