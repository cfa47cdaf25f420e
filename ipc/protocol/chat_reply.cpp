// Replies in the shape of OpenAI's API.
#include <boost/json/value_from.hpp>

#include "engine/base/utf8.h"
#include "ipc/protocol/chat.h"

namespace hearth::protocol {
namespace {

bool is_chat(ReplyShape shape) {
    return shape == ReplyShape::chat || shape == ReplyShape::chat_chunk;
}

std::string_view object_name(ReplyShape shape) {
    switch (shape) {
        case ReplyShape::chat:
            return "chat.completion";
        case ReplyShape::chat_chunk:
            return "chat.completion.chunk";
        case ReplyShape::completion:
        case ReplyShape::completion_chunk:
            return "text_completion";
    }
    return "";
}

json::object token_json(const TokenLogprob& token) {
    json::array bytes;
    for (const char byte : token.bytes) bytes.emplace_back(static_cast<unsigned char>(byte));
    return {{"token", repair_utf8(token.bytes)},
            {"id", token.id},
            {"logprob", token.logprob},
            {"bytes", std::move(bytes)}};
}

json::object chat_logprobs(const Choice& choice) {
    json::array content;
    for (const TokenLogprob& token : choice.logprobs) {
        json::object entry = token_json(token);
        json::array& top = entry["top_logprobs"].emplace_array();
        for (const TokenLogprob& other : token.top) top.emplace_back(token_json(other));
        content.emplace_back(std::move(entry));
    }
    return {{"content", std::move(content)}};
}

int characters(std::string_view text) {
    int count = 0;
    for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    return count;
}

json::object completion_logprobs(const Choice& choice) {
    json::array tokens, logprobs, tops, offsets;
    int offset = choice.text_offset;
    for (const TokenLogprob& token : choice.logprobs) {
        const std::string text = repair_utf8(token.bytes);
        tokens.emplace_back(text);
        logprobs.emplace_back(token.logprob);
        offsets.emplace_back(offset);
        offset += characters(text);
        json::object& top = tops.emplace_back(json::object()).get_object();
        // Two tokens may print alike; the likelier one, which comes first, keeps the place.
        for (const TokenLogprob& other : token.top)
            top.emplace(repair_utf8(other.bytes), other.logprob);
    }
    return {{"tokens", std::move(tokens)},
            {"token_logprobs", std::move(logprobs)},
            {"top_logprobs", std::move(tops)},
            {"text_offset", std::move(offsets)}};
}

json::object choice_json(const Choice& choice, const ReplyStyle& style) {
    json::object out;
    out["index"] = choice.index;
    if (style.shape == ReplyShape::chat) {
        out["message"] = {{"role", "assistant"}, {"content", choice.text}};
    } else if (style.shape == ReplyShape::chat_chunk) {
        json::object& delta = out["delta"].emplace_object();
        if (choice.opens) delta["role"] = "assistant";
        if (choice.opens || !choice.text.empty()) delta["content"] = choice.text;
    } else {
        out["text"] = choice.text;
    }
    if (style.logprobs && !choice.logprobs.empty())
        out["logprobs"] =
            is_chat(style.shape) ? chat_logprobs(choice) : completion_logprobs(choice);
    else
        out["logprobs"] = nullptr;
    if (choice.finish_reason.empty())
        out["finish_reason"] = nullptr;
    else
        out["finish_reason"] = choice.finish_reason;
    if (style.token_ids) out["token_ids"] = json::value_from(choice.token_ids);
    if (!is_chat(style.shape) && choice.prompt_token_ids)
        out["prompt_token_ids"] = json::value_from(*choice.prompt_token_ids);
    return out;
}

json::object usage_json(const Usage& usage) {
    return {{"prompt_tokens", usage.prompt_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
            {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

json::object timings_json(const Timings& timings) {
    return {{"queue_ms", timings.queue_ms},
            {"prompt_ms", timings.prompt_ms},
            {"generation_ms", timings.generation_ms},
            {"prompt_tokens", timings.prompt_tokens},
            {"cached_tokens", timings.cached_tokens},
            {"generated_tokens", timings.generated_tokens},
            {"prompt_tokens_per_second", timings.prompt_tokens_per_second()},
            {"tokens_per_second", timings.tokens_per_second()}};
}

double per_second(int tokens, double ms) { return ms > 0.0 ? tokens * 1000.0 / ms : 0.0; }

}  // namespace

double Timings::prompt_tokens_per_second() const {
    return per_second(prompt_tokens - cached_tokens, prompt_ms);
}

double Timings::tokens_per_second() const { return per_second(generated_tokens, generation_ms); }

json::object to_json(const Reply& reply, const ReplyStyle& style) {
    json::object out;
    out["id"] = reply.id;
    out["object"] = object_name(style.shape);
    out["created"] = reply.created;
    out["model"] = reply.model;
    json::array& choices = out["choices"].emplace_array();
    for (const Choice& choice : reply.choices) choices.emplace_back(choice_json(choice, style));
    if (reply.usage)
        out["usage"] = usage_json(*reply.usage);
    else if (style.usage)
        out["usage"] = nullptr;
    if (reply.timings) out["timings"] = timings_json(*reply.timings);
    if (reply.seed) out["seed"] = *reply.seed;
    if (reply.prompt_token_ids) out["prompt_token_ids"] = json::value_from(*reply.prompt_token_ids);
    return out;
}

}  // namespace hearth::protocol
