// The kernels in the words of simd_avx2.h.
#include "engine/cpu/kernels.h"
#include "engine/cpu/simd_avx2.h"

namespace hearth::cpu {
namespace {
namespace simd = simd_avx2;
}  // namespace
}  // namespace hearth::cpu

#include "engine/cpu/kernels_inl.h"

namespace hearth::cpu {

constinit const KernelTable kAvx2Kernels = make_table("AVX2");

}  // namespace hearth::cpu
