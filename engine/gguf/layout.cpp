#include "engine/gguf/layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "engine/base/units.h"
#include "engine/gguf/text.h"

namespace hearth::gguf {
namespace {

struct UnreadType {
    std::uint32_t id;
    std::string_view name;
    bool removed;  // GGUF took the id back: only programs of that time could read it
};

constexpr std::array kUnreadTypes = {
    UnreadType{4, "Q4_2", true},        UnreadType{5, "Q4_3", true},
    UnreadType{9, "Q8_1", false},       UnreadType{10, "Q2_K", false},
    UnreadType{11, "Q3_K", false},      UnreadType{15, "Q8_K", false},
    UnreadType{16, "IQ2_XXS", false},   UnreadType{17, "IQ2_XS", false},
    UnreadType{18, "IQ3_XXS", false},   UnreadType{19, "IQ1_S", false},
    UnreadType{20, "IQ4_NL", false},    UnreadType{21, "IQ3_S", false},
    UnreadType{22, "IQ2_S", false},     UnreadType{23, "IQ4_XS", false},
    UnreadType{24, "I8", false},        UnreadType{25, "I16", false},
    UnreadType{26, "I32", false},       UnreadType{27, "I64", false},
    UnreadType{28, "F64", false},       UnreadType{29, "IQ1_M", false},
    UnreadType{31, "Q4_0_4_4", true},   UnreadType{32, "Q4_0_4_8", true},
    UnreadType{33, "Q4_0_8_8", true},   UnreadType{34, "TQ1_0", false},
    UnreadType{35, "TQ2_0", false},     UnreadType{36, "IQ4_NL_4_4", true},
    UnreadType{37, "IQ4_NL_4_8", true}, UnreadType{38, "IQ4_NL_8_8", true},
    UnreadType{39, "MXFP4", false},     UnreadType{40, "NVFP4", false},
    UnreadType{41, "Q1_0", false},
};

}  // namespace

std::string describe_unread_type(std::uint32_t id) {
    const std::string number = "type " + std::to_string(id);
    const auto* found = std::ranges::find(kUnreadTypes, id, &UnreadType::id);
    if (found == kUnreadTypes.end()) return number + ", which is unknown";
    return number + " (" + std::string(found->name) + "), which " +
           (found->removed ? "was removed from the format" : "is not supported");
}

std::string name_fault(const std::string& what, std::string_view name) {
    if (name.empty()) return what + " has an empty name";
    for (const char c : name)
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f)
            return "the name of " + what + " has a control character: " + quoted(name);
    return "";
}

std::string shape_fault(const std::string& what, TensorShape shape, std::uint64_t& bytes) {
    const std::size_t count = shape.dims.size();
    if (count < 1 || count > kMaxDims)
        return what + " has " + std::to_string(count) + " dimensions, expected 1 to 4";
    Checked rows = 1;
    for (std::size_t i = 0; i < count; ++i) {
        // Before any of them divides or multiplies.
        if (shape.dims[i] == 0) return what + " has a dimension of 0";
        if (i > 0) rows = rows * shape.dims[i];
    }
    const std::uint64_t cols = shape.dims[0];
    // Signed 64-bit numbers must be able to hold the count: kernels count with them.
    if (!(rows * cols).at_most(std::numeric_limits<std::int64_t>::max()))
        return what + " has more elements than can be counted";
    const auto block = static_cast<std::uint64_t>(dtype_info(shape.type).block_elements);
    if (cols % block != 0)
        return what + " has rows of " + std::to_string(cols) + " elements, not a multiple of the " +
               std::to_string(block) + " of " + std::string(to_string(shape.type));
    const auto size = (row_bytes(shape.type, cols) * rows).value();
    if (!size) return what + " has a size that overflows";
    bytes = *size;
    return "";
}

std::string alignment_fault(const Metadata& metadata, std::uint64_t& alignment) {
    alignment = kDefaultAlignment;
    const Value* value = metadata.find(kAlignmentKey);
    if (value == nullptr) return "";
    // GGUF says u32; another type would be read differently by other programs.
    if (value->type != ValueType::u32)
        return "metadata 'general.alignment' is of type " + std::string(to_string(value->type)) +
               ", expected u32";
    const auto* stated = std::get_if<std::uint64_t>(&value->data);
    if (stated == nullptr) return "metadata 'general.alignment' has no value";
    if (!std::has_single_bit(*stated) || *stated < kMinAlignment || *stated > kMaxAlignment)
        return "metadata 'general.alignment' is " + std::to_string(*stated) +
               ", expected a power of two from 8 to 1048576";
    alignment = *stated;
    return "";
}

}  // namespace hearth::gguf
