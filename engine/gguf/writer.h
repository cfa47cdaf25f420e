// Writes a GGUF version 3 file: header, metadata, tensor directory, then tensor data streamed in
// order, so that a model larger than memory can be written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tensor/dtype.h"

namespace hearth::gguf {

struct TensorPlan {
    std::string name;
    DType type;
    std::vector<std::uint64_t> dims;  // innermost first
};

class Writer {
public:
    // Writes everything before the data. `path` is created or truncated.
    static Result<Writer> create(const std::string& path, const Metadata& metadata,
                                 std::vector<TensorPlan> tensors);
    // The next tensor's data, whole, in the order of the plan; its size must be the planned one.
    Result<void> append(std::span<const std::byte> data);
    // Flushes and syncs. All tensors must have been appended.
    Result<void> finish();

private:
    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, CloseFile> file_;
    std::string path_;
    std::vector<TensorPlan> tensors_;
    std::size_t next_ = 0;
};

}  // namespace hearth::gguf
