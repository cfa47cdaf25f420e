// How much memory keys and values get, and how long a sequence may become with it.
#pragma once

#include <cstdint>

#include "engine/base/result.h"
#include "engine/generate/engine.h"
#include "engine/ops/args.h"

namespace hearth::generate {

struct MemoryPlan {
    int context;  // positions of one sequence; they fit into the pages
    int pages;
};

// `shape.pages` is ignored; `available` is what the machine has left for keys and values when the
// options name no budget: a quarter of it is used. Errors: bad_input when the options ask for a
// longer context than the model was trained for, no_memory (with both numbers) when a context that
// was asked for, or the least useful one, does not fit.
Result<MemoryPlan> plan_memory(const KvShape& shape, int trained_context,
                               const EngineOptions& options, std::uint64_t available);

// no_memory with both numbers when weights of a file of this size cannot lie in memory. They take
// about as much as the file.
Result<void> check_weights_fit(std::uint64_t file_bytes, std::uint64_t available);

// Memory that programs can get without others being pushed out: MemAvailable of Linux, else half of
// all.
std::uint64_t available_memory();

}  // namespace hearth::generate
