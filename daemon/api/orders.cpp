#include "daemon/api/orders.h"

#include <algorithm>

namespace hearth::api {
namespace {

wire::Priority priority_from(const std::string& name) {
    if (name == "interactive") return wire::Priority::interactive;
    if (name == "background") return wire::Priority::background;
    return wire::Priority::api;
}

wire::Sampling sampling_from(const protocol::GenerationOptions& options, std::uint64_t seed) {
    wire::Sampling sampling;
    sampling.temperature = static_cast<float>(options.temperature);
    sampling.top_k = options.top_k;
    // Rounding to float may make a tiny probability zero, which is out of range.
    sampling.top_p = std::max(static_cast<float>(options.top_p), 1e-30F);
    sampling.min_p = static_cast<float>(options.min_p);
    sampling.repetition_penalty = std::max(static_cast<float>(options.repetition_penalty), 1e-30F);
    sampling.presence_penalty = static_cast<float>(options.presence_penalty);
    sampling.frequency_penalty = static_cast<float>(options.frequency_penalty);
    for (const auto& [id, bias] : options.logit_bias)
        sampling.logit_bias.emplace_back(id, static_cast<float>(bias));
    sampling.seed = seed;
    return sampling;
}

wire::Generate order_from(const protocol::GenerationOptions& options, std::uint64_t seed) {
    wire::Generate order;
    order.sampling = sampling_from(options, seed);
    order.max_tokens = options.max_tokens;
    order.stop = options.stop;
    order.logprobs = options.logprobs;
    order.ignore_end = options.ignore_end;
    order.priority = priority_from(options.priority);
    order.client = options.client;
    order.cache_salt = options.cache_salt;
    return order;
}

}  // namespace

wire::ChatPrompt chat_prompt(const protocol::ChatRequest& request) {
    wire::ChatPrompt prompt;
    prompt.variables = request.template_variables;
    prompt.variables["messages"] = request.messages;
    if (!request.tools.empty()) prompt.variables["tools"] = request.tools;
    prompt.variables["add_generation_prompt"] = request.add_generation_prompt;
    return prompt;
}

wire::Generate order_for(const protocol::ChatRequest& request, std::uint64_t seed) {
    wire::Generate order = order_from(request.options, seed);
    order.prompt = chat_prompt(request);
    return order;
}

std::vector<wire::Generate> orders_for(const protocol::CompletionRequest& request,
                                       std::uint64_t seed) {
    std::vector<wire::Generate> orders;
    for (const protocol::Prompt& prompt : request.prompts) {
        wire::Generate& order = orders.emplace_back(order_from(request.options, seed));
        if (const auto* text = std::get_if<std::string>(&prompt))
            order.prompt = wire::TextPrompt{*text, request.parse_special};
        else
            order.prompt = wire::IdsPrompt{std::get<std::vector<std::int32_t>>(prompt)};
    }
    return orders;
}

}  // namespace hearth::api
