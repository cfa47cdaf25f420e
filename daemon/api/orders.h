// A request in the words of the protocol → an order in the words of the worker. No JSON of requests
// below here.
#pragma once

#include <vector>

#include "ipc/protocol/chat.h"
#include "ipc/worker/messages.h"

namespace hearth::api {

wire::ChatPrompt chat_prompt(const protocol::ChatRequest& request);

// `seed` is the request's own, or drawn by the caller, so that all choices share it.
wire::Generate order_for(const protocol::ChatRequest& request, std::uint64_t seed);
// One for each prompt.
std::vector<wire::Generate> orders_for(const protocol::CompletionRequest& request,
                                       std::uint64_t seed);

}  // namespace hearth::api
