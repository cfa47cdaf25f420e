// What reader and writer both know of the file: magic, caps, and the rules for names, alignment and
// the shape of a tensor. Only engine/gguf includes this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tensor/dtype.h"

namespace hearth::gguf {

constexpr std::string_view kMagic = "GGUF";
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::uint64_t kDefaultAlignment = 32;

// Caps on what a file may ask for, besides the bytes that it has.
constexpr std::uint64_t kMaxStringBytes = 16ULL * 1024 * 1024;
constexpr std::uint64_t kMaxArrayElements = 64ULL * 1024 * 1024;
constexpr std::uint64_t kMaxKeys = 65536;
constexpr std::uint64_t kMaxTensors = 65536;
constexpr std::uint64_t kMaxDims = 4;
constexpr std::uint64_t kMinAlignment = 8;  // the GGUF specification asks for multiples of 8
constexpr std::uint64_t kMaxAlignment = 1024 * 1024;
constexpr std::uint64_t kMaxNameBytes = 65535;  // the specification's limit for keys

// The functions below give a sentence about `what` that says what is wrong, or an empty string. The
// reader makes model_corrupt of it, the writer bad_input.

// Names are shown, logged and compared: empty ones and control characters (a NUL above all) are
// out.
std::string name_fault(const std::string& what, std::string_view name);

struct TensorShape {
    DType type;
    std::span<const std::uint64_t> dims;  // innermost first
};
// Counts and products that fit, no dimension of 0, rows of whole blocks. Sets `bytes` when all is
// well.
std::string shape_fault(const std::string& what, TensorShape shape, std::uint64_t& bytes);

// general.alignment, or its default. Sets `alignment` when all is well.
std::string alignment_fault(const Metadata& metadata, std::uint64_t& alignment);

// For a tensor type id that dtype_from_id does not know: "type 10 (Q2_K), which is not supported",
// "type 4 (Q4_2), which was removed from the format", "type 99, which is unknown".
std::string describe_unread_type(std::uint32_t id);

}  // namespace hearth::gguf
