#include "engine/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/check.h"

namespace hearth {
namespace {

constexpr std::array<DTypeInfo, 11> kTypes = {{
    {DType::f32, "F32", 1, 4},
    {DType::f16, "F16", 1, 2},
    {DType::q4_0, "Q4_0", 32, 18},
    {DType::q4_1, "Q4_1", 32, 20},
    {DType::q5_0, "Q5_0", 32, 22},
    {DType::q5_1, "Q5_1", 32, 24},
    {DType::q8_0, "Q8_0", 32, 34},
    {DType::q4_k, "Q4_K", 256, 144},
    {DType::q5_k, "Q5_K", 256, 176},
    {DType::q6_k, "Q6_K", 256, 210},
    {DType::bf16, "BF16", 1, 2},
}};

}  // namespace

const DTypeInfo& dtype_info(DType type) {
    const auto* found = std::ranges::find(kTypes, type, &DTypeInfo::type);
    HEARTH_CHECK(found != kTypes.end());
    return *found;
}

std::optional<DType> dtype_from_id(std::uint32_t id) {
    for (const DTypeInfo& info : kTypes)
        if (static_cast<std::uint32_t>(info.type) == id) return info.type;
    return std::nullopt;
}

std::optional<DType> dtype_from_name(std::string_view name) {
    const auto same = [](char a, char b) {
        return std::toupper(static_cast<unsigned char>(a)) ==
               std::toupper(static_cast<unsigned char>(b));
    };
    for (const DTypeInfo& info : kTypes)
        if (std::ranges::equal(name, info.name, same)) return info.type;
    return std::nullopt;
}

}  // namespace hearth
