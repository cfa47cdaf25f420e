#include "models/quantize/plan.h"

#include <string_view>

namespace hearth::quantize {
namespace {

bool fits(DType type, std::uint64_t cols) {
    return cols % static_cast<std::uint64_t>(dtype_info(type).block_elements) == 0;
}

DType with_small_blocks(DType wanted) {
    switch (wanted) {
        case DType::q4_k:
            return DType::q5_0;
        case DType::q5_k:
            return DType::q5_1;
        case DType::q6_k:
            return DType::q8_0;
        default:
            return wanted;
    }
}

}  // namespace

bool is_converted(const gguf::TensorInfo& tensor) {
    const std::string_view name = tensor.name;
    return tensor.n_dims >= 2 && name.ends_with("weight") && !name.ends_with("ffn_gate_inp.weight");
}

DType fitting_type(DType wanted, std::uint64_t cols) {
    if (fits(wanted, cols)) return wanted;
    const DType small = with_small_blocks(wanted);
    return fits(small, cols) ? small : DType::f16;
}

Plan make_plan(std::span<const gguf::TensorInfo> tensors, DType wanted) {
    Plan plan;
    for (const gguf::TensorInfo& tensor : tensors) {
        gguf::TensorPlan target = {.name = tensor.name, .type = tensor.type, .dims = {}};
        target.dims.assign(tensor.dims.begin(), tensor.dims.begin() + tensor.n_dims);
        if (is_converted(tensor)) {
            target.type = fitting_type(wanted, tensor.cols());
            if (target.type != wanted)
                plan.fallbacks.push_back(
                    {.tensor = tensor.name, .wanted = wanted, .used = target.type});
        }
        plan.tensors.push_back(std::move(target));
    }
    return plan;
}

}  // namespace hearth::quantize
