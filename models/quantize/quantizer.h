// Writes a copy of a GGUF file whose weights have another type (plan.h says which). Tensors stream
// through one at a time; memory holds one packed tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/tensor/dtype.h"
#include "models/quantize/plan.h"

namespace hearth::quantize {

struct RequantizeProgress {
    std::uint64_t elements_done;
    std::uint64_t elements_total;
};
// Called on the calling thread after every tensor.
using ProgressSink = std::function<void(const RequantizeProgress&)>;

struct RequantizeReport {
    int tensors_converted;   // packed anew
    int tensors_copied;      // not touched by the plan, or of the wanted type already: same bytes
    std::uint64_t bytes_in;  // of the files
    std::uint64_t bytes_out;
    std::vector<Fallback> fallbacks;
};

// Reads `in_path`, writes a temporary file beside `out_path`, syncs it and renames it over
// `out_path`, so that a file under that name is whole. Sets general.file_type and
// general.quantization_version; all other metadata is copied. Uses two threads. `progress` may be
// empty.
//
// Errors: what MappedFile::open and File::read give for the input; bad_input when both paths name
// the same file; numeric_error for a weight that is NaN or infinite or too large for F16 or BF16,
// with the tensor's name; io_failed, no_memory. After an error no temporary file is left, and
// `out_path` is as it was (but for the rare case that only syncing its folder failed).
Result<RequantizeReport> requantize(const std::string& in_path, const std::string& out_path,
                                    DType type, const ProgressSink& progress);

}  // namespace hearth::quantize
