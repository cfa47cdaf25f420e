// The budget of keys and values.
#include "engine/generate/memory_plan.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "engine/base/units.h"
#include "engine/state/full_kv.h"
#include "engine/state/sequence_state.h"

namespace hearth::generate {

namespace {

// A model that cannot hold this much of a conversation is no use, unless it was trained for less.
constexpr int kLeastContext = 512;

Error too_little(int context, std::uint64_t needed, std::uint64_t budget) {
    return {ErrorCode::no_memory,
            "a context of " + std::to_string(context) + " tokens needs " +
                std::to_string(needed / kMiB + 1) + " MiB for keys and values, but " +
                std::to_string(budget / kMiB) +
                " MiB are allowed; ask for a shorter context or raise the limit"};
}

}  // namespace

Result<MemoryPlan> plan_memory(const KvShape& shape, int trained_context,
                               const EngineOptions& options, std::uint64_t available) {
    if (options.context > trained_context)
        return Error{ErrorCode::bad_input,
                     "a context of " + std::to_string(options.context) +
                         " tokens was asked for, but the model was trained for " +
                         std::to_string(trained_context)};
    const std::uint64_t page_bytes = state::kv_bytes_per_position(shape) * kPagePositions;
    const std::uint64_t budget = options.kv_bytes > 0 ? options.kv_bytes : available / 4;
    const std::uint64_t affordable = budget / page_bytes;  // pages
    const int least =
        options.context > 0 ? options.context : std::min(trained_context, kLeastContext);
    const auto least_pages = static_cast<std::uint64_t>(state::page_count(least));
    if (affordable < least_pages) return too_little(least, least_pages * page_bytes, budget);

    const int wanted = options.context > 0 ? options.context : trained_context;
    const auto wanted_pages = static_cast<std::uint64_t>(state::page_count(wanted));
    const int context =
        affordable >= wanted_pages ? wanted : static_cast<int>(affordable) * kPagePositions;
    // More pages than this many full sequences can hold would never be used.
    const std::uint64_t useful = static_cast<std::uint64_t>(state::page_count(context)) *
                                 static_cast<std::uint64_t>(options.max_sequences);
    constexpr std::uint64_t kMostPages = 1U << 24U;
    return MemoryPlan{.context = context,
                      .pages = static_cast<int>(std::min({affordable, useful, kMostPages}))};
}

Result<void> check_weights_fit(std::uint64_t file_bytes, std::uint64_t available) {
    if (file_bytes <= available) return {};
    return Error{ErrorCode::no_memory,
                 "the model needs about " + std::to_string(file_bytes / kMiB) +
                     " MiB for its weights, but only " + std::to_string(available / kMiB) +
                     " MiB of memory are free; close other programs or choose a smaller model"};
}

std::uint64_t available_memory() {
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    std::string unit;
    while (meminfo >> key >> kib && std::getline(meminfo, unit))
        if (key == "MemAvailable:") return kib * kKiB;
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace hearth::generate
