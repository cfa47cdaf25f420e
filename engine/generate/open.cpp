// Opening with a device of the options' choice; engine/device decides what that is.
#include <utility>

#include "engine/device/make_ops.h"
#include "engine/generate/engine.h"
#include "engine/generate/load.h"

namespace hearth {

Result<generate::LoadedModel> generate::load_model(MappedFile file, const EngineOptions& options) {
    HEARTH_TRY(auto ops, make_ops({.backend = options.backend, .threads = options.threads}));
    return load_model(std::move(file), options, std::move(ops));
}

Result<std::unique_ptr<Engine>> Engine::open(MappedFile file, const EngineOptions& options) {
    HEARTH_TRY(generate::LoadedModel loaded, generate::load_model(std::move(file), options));
    return generate::make_engine(std::move(loaded), options);
}

}  // namespace hearth
