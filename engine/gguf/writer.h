// Writes a GGUF version 3 file: header, metadata, tensor directory, then tensor data streamed in
// order, so that a model larger than memory can be written.
#pragma once

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
    // Writes everything before the data. `path` is created or truncated. Data is aligned to
    // metadata's general.alignment, else to 32 bytes. Errors: io_failed; bad_input for a plan that
    // no reader would take (names, dims, rows that are no whole number of blocks) and for values
    // that do not fit their declared types.
    static Result<Writer> create(const std::string& path, const Metadata& metadata,
                                 std::vector<TensorPlan> tensors);
    // The next tensor's data, whole, in the order of the plan; its size must be the planned one.
    Result<void> append(std::span<const std::byte> data);
    // Flushes and syncs the file, not its folder. All tensors must have been appended.
    Result<void> finish();

private:
    Writer() = default;

    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, CloseFile> file_;
    std::string path_;
    std::vector<TensorPlan> tensors_;
    std::size_t next_ = 0;
    std::uint64_t alignment_ = 32;
};

}  // namespace hearth::gguf
