// From what a client sends to the ids of a prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/marked_text.h"
#include "engine/base/result.h"
#include "engine/generate/load.h"
#include "engine/generate/request.h"

namespace hearth::generate {

// What a template that asks for the time is told.
chat::LocalTime local_time();

// The text of a chat, in the local time of this machine. The template sees the caller's variables,
// and the model's bos_token and eos_token where the caller names none. template_failed when the
// model has no usable template.
Result<MarkedText> render_chat(const LoadedModel& model, const chat::Value& variables);

// Text and ids of a prompt; see Engine::tokenize.
Result<PromptTokens> tokenize(const LoadedModel& model, const Prompt& prompt,
                              std::optional<bool> add_bos);

// The model's begin token comes first where the model wants one and the text does not begin with it
// already; ids are taken as they are. Errors: bad_input (no token, an id outside of the
// vocabulary), and those of template and tokenizer.
Result<std::vector<std::int32_t>> prompt_ids(const LoadedModel& model, const Prompt& prompt);

// bad_input when an id is not in the vocabulary.
Result<void> check_ids(const LoadedModel& model, const std::vector<std::int32_t>& ids);

}  // namespace hearth::generate
