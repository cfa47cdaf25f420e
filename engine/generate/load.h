// From a model file to everything that answers need: device, weights, tokenizer, chat template. The
// engine and the tools (perplexity, bench) load the same way.
#pragma once

#include <memory>
#include <optional>

#include "engine/base/mapped_file.h"
#include "engine/base/result.h"
#include "engine/chat/template.h"
#include "engine/generate/engine.h"
#include "engine/model/model.h"
#include "engine/ops/ops.h"
#include "engine/text/tokenizer.h"

namespace hearth::generate {

struct LoadedModel {
    std::unique_ptr<Ops> ops;
    std::unique_ptr<model::Model> model;
    text::Tokenizer tokenizer;
    std::optional<chat::Template>
        chat_template;             // absent: info.chat_unavailable says why, or the file has none
    bool knows_developer = false;  // whether the template speaks of the role "developer"
    ModelInfo info;
    int pages;  // of keys and values, within the budget
};

// Makes the device that the options ask for. The mapping is closed when this returns. Errors: those
// of the file (unsupported_format, model_corrupt, model_invalid, unsupported_model), bad_input for
// options, no_memory with the bytes that are needed and allowed.
Result<LoadedModel> load_model(MappedFile file, const EngineOptions& options);
// The same on a given device.
Result<LoadedModel> load_model(MappedFile file, const EngineOptions& options,
                               std::unique_ptr<Ops> ops);

// The engine of a loaded model. `options` are those it was loaded with.
Result<std::unique_ptr<Engine>> make_engine(LoadedModel loaded, const EngineOptions& options);

}  // namespace hearth::generate
