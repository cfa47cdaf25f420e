// From the architecture's name in a file to a loaded model.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/result.h"
#include "engine/gguf/reader.h"
#include "engine/model/model.h"
#include "engine/ops/ops.h"

namespace hearth::model {

// Reads, checks and uploads. `context` positions can be computed, 0 for all that the model was
// trained on. The file is not needed afterwards; `ops` must outlive the model. Errors:
// unsupported_model naming the architecture and those that are supported, and those of read_config
// and bind_weights.
Result<std::unique_ptr<Model>> load(Ops& ops, const gguf::File& file, int context);

// Whether load() has a maker for the architecture.
bool is_supported(std::string_view architecture);

// One maker per family.
Result<std::unique_ptr<Model>> load_llama(Ops& ops, const gguf::File& file, int context);

}  // namespace hearth::model
