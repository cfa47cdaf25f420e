// Element and block types, with the ids that GGUF files use. A row of a block type is a whole
// number of blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace hearth {

enum class DType : std::uint8_t {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    bf16 = 30,
};

struct DTypeInfo {
    DType type;
    std::string_view name;  // as people write it: "Q4_K"
    int block_elements;     // elements in one block; 1 for plain types
    int block_bytes;        // bytes of one block
};

// All types we read, in the order of their ids.
const DTypeInfo& dtype_info(DType type);
std::optional<DType> dtype_from_id(std::uint32_t id);         // nothing for ids we do not read
std::optional<DType> dtype_from_name(std::string_view name);  // case-insensitive: "q4_k", "Q4_K"
inline std::string_view to_string(DType type) { return dtype_info(type).name; }

// Bytes of a row of `cols` elements, which must be a multiple of block_elements.
inline Checked row_bytes(DType type, std::uint64_t cols) {
    const DTypeInfo& info = dtype_info(type);
    return Checked(cols / static_cast<std::uint64_t>(info.block_elements)) *
           static_cast<std::uint64_t>(info.block_bytes);
}

}  // namespace hearth
