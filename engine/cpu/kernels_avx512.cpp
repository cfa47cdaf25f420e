// The kernels in the words of simd_avx512.h.
#include "engine/cpu/kernels.h"
#include "engine/cpu/simd_avx512.h"

namespace hearth::cpu {
namespace {
namespace simd = simd_avx512;
}  // namespace
}  // namespace hearth::cpu

#include "engine/cpu/kernels_inl.h"

namespace hearth::cpu {

constinit const KernelTable kAvx512Kernels = make_table("AVX-512 VNNI");

}  // namespace hearth::cpu
