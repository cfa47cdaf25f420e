// Reads a GGUF file (versions 2 and 3, little-endian) that lies in memory, usually a mapping.
// Everything is checked before it is believed: counts and lengths against the bytes that are left,
// products and sums with Checked, offsets against alignment, overlap and the end of the file.
// Nothing is copied but names and metadata.
//
// Limits: metadata string 16 MiB, array 64 Mi elements, 65,536 keys, 65,536 tensors, 4 dimensions,
// alignment a power of two from 8 (GGUF asks for multiples of 8) to 1 MiB. Errors:
// unsupported_format (not GGUF; names what it looks like), unsupported_version, model_corrupt
// (structure), unsupported_model (a tensor type we do not read).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tensor/dtype.h"

namespace hearth::gguf {

struct TensorInfo {
    std::string name;
    DType type;
    int n_dims;  // 1 to 4
    std::array<std::uint64_t, 4>
        dims;  // innermost first, as in the file: dims[0] is the row length; unused ones are 1
    std::uint64_t offset;  // of the first byte, from the start of the file
    std::uint64_t bytes;

    std::uint64_t cols() const { return dims[0]; }
    std::uint64_t rows() const {
        return dims[1] * dims[2] * dims[3];
    }  // the product was checked on reading
};

class File {
public:
    // Borrows `bytes`, which must outlive the File.
    static Result<File> read(std::span<const std::byte> bytes);

    // Moves only: the index by name has views of the tensors' names.
    File(File&&) = default;
    File& operator=(File&&) = default;

    std::uint32_t version() const { return version_; }
    const Metadata& metadata() const { return metadata_; }
    std::span<const TensorInfo> tensors() const { return tensors_; }  // in file order
    const TensorInfo* find(std::string_view name) const;              // null when there is none
    std::span<const std::byte> data(const TensorInfo& tensor) const {
        return bytes_.subspan(tensor.offset, tensor.bytes);
    }

private:
    File() = default;

    std::span<const std::byte> bytes_;
    std::uint32_t version_ = 0;
    Metadata metadata_;
    std::vector<TensorInfo> tensors_;
    std::unordered_map<std::string_view, std::size_t> by_name_;  // views of names in tensors_
};

}  // namespace hearth::gguf
