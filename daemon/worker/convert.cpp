// Field by field; nothing is decided here.
#include "daemon/worker/convert.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <limits>
#include <utility>

#include "engine/tensor/dtype.h"

namespace hearth::worker {
namespace {

namespace json = boost::json;

Result<DType> cache_type(const std::string& name) {
    if (const auto type = dtype_from_name(name)) return *type;
    return Error{ErrorCode::bad_input,
                 "\"" + name + "\" is not a type of keys and values; try f16"};
}

}  // namespace

chat::Value to_chat_value(const json::value& value, chat::Origin origin) {
    switch (value.kind()) {
        case json::kind::null:
            return chat::Value::none();
        case json::kind::bool_:
            return chat::Value::boolean(value.get_bool(), origin);
        case json::kind::int64:
            return chat::Value::integer(value.get_int64(), origin);
        case json::kind::uint64:  // past the largest int64, or it would be one
            return chat::Value::real(static_cast<double>(value.get_uint64()), origin);
        case json::kind::double_:
            return chat::Value::real(value.get_double(), origin);
        case json::kind::string:
            return chat::Value::string(value.get_string(), origin);
        case json::kind::array: {
            std::vector<chat::Value> items;
            for (const json::value& item : value.get_array()) {
                items.push_back(to_chat_value(item, origin));
            }
            return chat::Value::list(std::move(items));
        }
        case json::kind::object: {
            std::vector<chat::Member> members;
            for (const auto& member : value.get_object()) {
                members.push_back(
                    {std::string(member.key()), to_chat_value(member.value(), origin)});
            }
            return chat::Value::object(std::move(members));
        }
    }
    return {};
}

Result<EngineOptions> to_options(const wire::Load& load) {
    EngineOptions options;
    options.backend = load.backend;
    options.threads = load.threads;
    options.context = load.context;
    options.kv_bytes = load.kv_bytes;
    HEARTH_TRY(options.key_type, cache_type(load.key_type));
    HEARTH_TRY(options.value_type, cache_type(load.value_type));
    if (load.max_sequences > 0) options.max_sequences = load.max_sequences;
    return options;
}

Prompt to_prompt(decltype(wire::Generate::prompt) prompt) {
    if (auto* chat = std::get_if<wire::ChatPrompt>(&prompt))
        return ChatPrompt{to_chat_value(chat->variables)};
    if (auto* text = std::get_if<wire::TextPrompt>(&prompt))
        return TextPrompt{std::move(text->text), text->parse_special};
    return IdsPrompt{std::move(std::get<wire::IdsPrompt>(prompt).ids)};
}

Result<GenerateRequest> to_request(wire::Generate message) {
    GenerateRequest request;
    request.prompt = to_prompt(std::move(message.prompt));
    const wire::Sampling& sampling = message.sampling;
    if (!sampling.seed) return Error{ErrorCode::bad_input, "the request has no seed"};
    request.sampling = {.temperature = sampling.temperature,
                        .top_k = sampling.top_k,
                        .top_p = sampling.top_p,
                        .min_p = sampling.min_p,
                        .repetition_penalty = sampling.repetition_penalty,
                        .presence_penalty = sampling.presence_penalty,
                        .frequency_penalty = sampling.frequency_penalty,
                        .logit_bias = sampling.logit_bias,
                        .seed = *sampling.seed,
                        .choice = sampling.choice};
    request.generated = std::move(message.generated);
    request.max_tokens = message.max_tokens;
    request.stop = std::move(message.stop);
    request.logprobs = message.logprobs;
    request.ignore_end = message.ignore_end;
    switch (message.priority) {
        case wire::Priority::interactive:
            request.priority = Priority::interactive;
            break;
        case wire::Priority::api:
            request.priority = Priority::api;
            break;
        case wire::Priority::background:
            request.priority = Priority::background;
            break;
    }
    request.client = std::move(message.client);
    request.cache_salt = std::move(message.cache_salt);
    return request;
}

wire::ModelInfo from_engine(const ModelInfo& info) {
    return {.architecture = info.architecture,
            .name = info.name,
            .quantization = info.quantization,
            .backend = info.backend,
            .context = info.context,
            .trained_context = info.trained_context,
            .layers = info.layers,
            .width = info.width,
            .vocabulary = info.vocabulary,
            .parameters = info.parameters,
            .weight_bytes = info.weight_bytes,
            .kv_bytes_per_token = info.kv_bytes_per_token,
            .kv_bytes = info.kv_bytes,
            .has_chat_template = info.has_chat_template,
            .chat_unavailable = info.chat_unavailable,
            .fingerprint = info.fingerprint};
}

wire::Stats from_engine(const EngineStats& stats) {
    return {.running = stats.running,
            .waiting = stats.waiting,
            .pages_free = stats.pages_free,
            .pages_total = stats.pages_total,
            .steps = stats.steps,
            .prompt_tokens = stats.prompt_tokens,
            .generated_tokens = stats.generated_tokens};
}

wire::Accepted from_engine(Accepted accepted) {
    const auto count = static_cast<std::int32_t>(accepted.prompt_ids.size());
    return {.prompt_tokens = count, .prompt_ids = std::move(accepted.prompt_ids)};
}

wire::Done from_engine(Done done) {
    wire::Done out;
    switch (done.reason) {
        case FinishReason::stop:
            out.reason = wire::FinishReason::stop;
            break;
        case FinishReason::length:
            out.reason = wire::FinishReason::length;
            break;
        case FinishReason::cancelled:
            out.reason = wire::FinishReason::cancelled;
            break;
    }
    out.stop_string = std::move(done.stop_string);
    out.timings = {.prompt_tokens = done.timings.prompt_tokens,
                   .cached_tokens = done.timings.cached_tokens,
                   .generated_tokens = done.timings.generated_tokens,
                   .queue_ms = done.timings.queue_ms,
                   .prompt_ms = done.timings.prompt_ms,
                   .generation_ms = done.timings.generation_ms};
    return out;
}

void append(wire::Delta& delta, Delta event, int logprobs) {
    delta.text += event.text;
    for (PickedToken& token : event.tokens) {
        delta.ids.push_back(token.id);
        if (logprobs < 0) continue;
        wire::PickedLogprob& picked = delta.logprobs.emplace_back();
        picked.logprob = token.logprob;
        picked.bytes = std::move(token.bytes);
        for (TokenLogprob& other : token.top) {
            picked.top.push_back({other.id, other.logprob, std::move(other.bytes)});
        }
    }
}

}  // namespace hearth::worker
