// The client's side of replies: JSON back to structs.
#include "ipc/protocol/parts.h"

namespace hearth::protocol {
namespace {

template <typename Read>
void each_object(const json::array* list, const std::string& path, Fields& fields, Read read) {
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string entry_path = path + "[" + std::to_string(i) + "]";
        if (const json::object* object = (*list)[i].if_object()) {
            Fields entry(*object, entry_path);
            read(entry);
            fields.adopt(entry);
        } else {
            fields.fail(entry_path, "'" + entry_path + "' must be an object");
        }
    }
}

TokenLogprob read_token(Fields& fields) {
    TokenLogprob token;
    token.id = static_cast<std::int32_t>(fields.integer("id", {0, INT32_MAX}).value_or(0));
    token.logprob = fields.number("logprob").value_or(0.0);
    if (const json::array* bytes = fields.array("bytes"))
        for (const json::value& byte : *bytes)
            token.bytes += static_cast<char>(byte.is_int64() ? byte.get_int64() : '?');
    return token;
}

void read_logprobs(Fields& fields, Choice& choice) {
    const json::object* logprobs = fields.object("logprobs");
    if (logprobs == nullptr || !logprobs->contains("content")) return;  // completions: text only
    Fields reader(*logprobs, fields.path_of("logprobs"));
    each_object(reader.array("content"), reader.path_of("content"), reader, [&](Fields& entry) {
        TokenLogprob token = read_token(entry);
        each_object(entry.array("top_logprobs"), entry.path_of("top_logprobs"), entry,
                    [&](Fields& other) { token.top.push_back(read_token(other)); });
        choice.logprobs.push_back(std::move(token));
    });
    fields.adopt(reader);
}

Choice read_choice(Fields& fields) {
    Choice choice;
    choice.index = static_cast<int>(fields.integer("index", {0, kMaxRequestChoices}).value_or(0));
    choice.text = fields.text("text").value_or("");
    for (const char* name : {"message", "delta"})
        if (const json::object* message = fields.object(name)) {
            Fields reader(*message, fields.path_of(name));
            choice.text = reader.text("content").value_or("");
            choice.opens = reader.value("role") != nullptr;
            fields.adopt(reader);
        }
    choice.finish_reason = fields.text("finish_reason").value_or("");
    if (const json::array* ids = fields.array("token_ids"))
        choice.token_ids = read_ids(*ids, fields.path_of("token_ids"), fields);
    if (const json::array* ids = fields.array("prompt_token_ids"))
        choice.prompt_token_ids = read_ids(*ids, fields.path_of("prompt_token_ids"), fields);
    read_logprobs(fields, choice);
    return choice;
}

int count(Fields& fields, std::string_view name) {
    return static_cast<int>(fields.integer(name, {0, INT32_MAX}).value_or(0));
}

Usage read_usage(Fields& fields) {
    Usage usage;
    usage.prompt_tokens = count(fields, "prompt_tokens");
    usage.completion_tokens = count(fields, "completion_tokens");
    if (const json::object* details = fields.object("prompt_tokens_details")) {
        Fields reader(*details, fields.path_of("prompt_tokens_details"));
        usage.cached_tokens = count(reader, "cached_tokens");
        fields.adopt(reader);
    }
    return usage;
}

Timings read_timings(Fields& fields) {
    Timings timings;
    timings.queue_ms = fields.number("queue_ms").value_or(0.0);
    timings.prompt_ms = fields.number("prompt_ms").value_or(0.0);
    timings.generation_ms = fields.number("generation_ms").value_or(0.0);
    timings.prompt_tokens = count(fields, "prompt_tokens");
    timings.cached_tokens = count(fields, "cached_tokens");
    timings.generated_tokens = count(fields, "generated_tokens");
    return timings;
}

}  // namespace

Reply read_reply(Fields& fields) {
    Reply reply;
    reply.id = fields.text("id").value_or("");
    reply.model = fields.text("model").value_or("");
    reply.created = fields.integer("created").value_or(0);
    if (fields.value("seed") != nullptr) reply.seed = fields.size("seed");
    each_object(fields.array("choices"), "choices", fields,
                [&](Fields& entry) { reply.choices.push_back(read_choice(entry)); });
    if (const json::object* usage = fields.object("usage")) {
        Fields reader(*usage, "usage");
        reply.usage = read_usage(reader);
        fields.adopt(reader);
    }
    if (const json::object* timings = fields.object("timings")) {
        Fields reader(*timings, "timings");
        reply.timings = read_timings(reader);
        fields.adopt(reader);
    }
    if (const json::array* ids = fields.array("prompt_token_ids"))
        reply.prompt_token_ids = read_ids(*ids, "prompt_token_ids", fields);
    return reply;
}

}  // namespace hearth::protocol
