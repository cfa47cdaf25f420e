// Answers about text and ids that need no forward pass.
#pragma once

#include "engine/base/result.h"
#include "engine/generate/engine.h"
#include "ipc/worker/messages.h"

namespace hearth::worker {

// too_large: more ids than a reply may hold, with both numbers. Else errors as of Engine::tokenize.
Result<wire::Tokens> answer(const Engine& engine, wire::Tokenize question);
// bad_input for an id that is not in the vocabulary.
Result<wire::Tokens> answer(const Engine& engine, const wire::Detokenize& question);

}  // namespace hearth::worker
