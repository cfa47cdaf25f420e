// Between the messages of ipc/worker and the engine's own types.
#pragma once

#include <boost/json/value.hpp>

#include "engine/base/result.h"
#include "engine/chat/value.h"
#include "engine/generate/engine.h"
#include "engine/generate/request.h"
#include "ipc/worker/messages.h"

namespace hearth::worker {

// Every string in it gets this origin.
chat::Value to_chat_value(const boost::json::value& value,
                          chat::Origin origin = chat::Origin::foreign);

// bad_input for an unknown type of keys or values.
Result<EngineOptions> to_options(const wire::Load& load);
Result<GenerateRequest> to_request(wire::Generate message);
Prompt to_prompt(decltype(wire::Generate::prompt) prompt);

wire::ModelInfo from_engine(const ModelInfo& info);
wire::Stats from_engine(const EngineStats& stats);
wire::Accepted from_engine(Accepted accepted);
wire::Done from_engine(Done done);
// Adds the tokens and text of an event to a delta that is not sent yet. `logprobs` as in the
// request.
void append(wire::Delta& delta, Delta event, int logprobs);

}  // namespace hearth::worker
