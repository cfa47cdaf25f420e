#include "engine/device/make_ops.h"

#include <array>
#include <string_view>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/thread_pool.h"
#include "engine/cpu/cpu_ops.h"
#include "engine/cpu/kernel_table.h"
#include "engine/device/self_check.h"
#include "engine/reference/reference_ops.h"

namespace hearth {
namespace {

struct Named {
    std::string_view name;
    const cpu::KernelTable* (*kernels)();
};
// Best first.
constexpr std::array kAutomatic = {Named{"cpu-avx512", cpu::avx512_kernels},
                                   Named{"cpu-avx2", cpu::avx2_kernels}};
constexpr Named kEmulated = {"cpu-emulated", cpu::emulated_kernels};

// Why a set of kernels must not be used; empty when it may.
std::string fault_of(const cpu::KernelTable& kernels) {
    const auto candidate = cpu::make_cpu_ops(kernels, 1);
    const auto reference = make_reference_ops();
    const auto difference = first_difference(*candidate, *reference);
    return difference ? *difference : difference.error().message;
}

std::unique_ptr<Ops> best_cpu(int threads) {
    for (const Named& set : kAutomatic) {
        const cpu::KernelTable* kernels = set.kernels();
        if (kernels == nullptr) continue;
        const std::string fault = fault_of(*kernels);
        if (fault.empty()) return cpu::make_cpu_ops(*kernels, threads);
        log(LogLevel::warning, "the kernels " + std::string(set.name) + " fail their self-check (" +
                                   fault + ") and are not used; please report this machine");
    }
    log(LogLevel::warning,
        "no vector kernels run on this CPU (they need AVX2, FMA and F16C): plain loops are used, "
        "which is very slow");
    return make_reference_ops();
}

}  // namespace

Result<std::unique_ptr<Ops>> make_ops(const DeviceOptions& options) {
    if (options.threads < 0)
        return Error{ErrorCode::bad_input, "the number of threads must not be negative"};
    const int threads = options.threads > 0 ? options.threads : usable_cores();
    if (options.backend == "auto" || options.backend == "cpu") return best_cpu(threads);
    if (options.backend == "reference") return make_reference_ops();
    for (const Named& set : {kAutomatic[0], kAutomatic[1], kEmulated}) {
        if (options.backend != set.name) continue;
        const cpu::KernelTable* kernels = set.kernels();
        if (kernels == nullptr)
            return Error{ErrorCode::device_failed, "this CPU cannot run the backend \"" +
                                                       options.backend +
                                                       "\"; \"cpu\" picks one that it can"};
        return cpu::make_cpu_ops(*kernels, threads);
    }
    return Error{ErrorCode::bad_input,
                 "no backend is called \"" + options.backend +
                     "\"; there are auto, cpu, cpu-avx512, cpu-avx2, cpu-emulated and reference"};
}

}  // namespace hearth
