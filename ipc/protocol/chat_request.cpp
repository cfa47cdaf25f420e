#include <array>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include "ipc/protocol/parts.h"

namespace hearth::protocol {
namespace {

constexpr std::size_t kMaxTools = 1024;
constexpr std::size_t kMaxTemplateVariables = 64;
constexpr std::size_t kMaxTemplateVariableBytes = 64UL << 10U;  // of all of them, as JSON
// Names that only the daemon or the model may set.
constexpr std::array<std::string_view, 6> kReserved = {
    "messages", "tools", "add_generation_prompt", "bos_token", "eos_token", "raise_exception"};

void read_tools(Fields& fields, ChatRequest& request) {
    const auto choice = fields.value("tool_choice");
    const json::string* word = choice != nullptr ? choice->if_string() : nullptr;
    if (choice != nullptr && (word == nullptr || (*word != "auto" && *word != "none")))
        fields.fail("tool_choice", "'tool_choice' serves only \"auto\" and \"none\"");
    const json::array* tools = fields.array("tools");
    if (tools == nullptr) return;
    if (tools->size() > kMaxTools)
        fields.fail("tools", "'tools' has more than " + std::to_string(kMaxTools) + " entries");
    for (std::size_t i = 0; i < tools->size(); ++i)
        if (!(*tools)[i].is_object())
            fields.fail("tools[" + std::to_string(i) + "]", "each tool must be an object");
    if (word == nullptr || *word != "none") request.tools = *tools;
}

void read_template_variables(Fields& fields, ChatRequest& request) {
    const json::object* variables = fields.object("chat_template_kwargs");
    if (variables == nullptr) return;
    if (variables->size() > kMaxTemplateVariables)
        fields.fail("chat_template_kwargs", "'chat_template_kwargs' has more than " +
                                                std::to_string(kMaxTemplateVariables) + " entries");
    for (const std::string_view name : kReserved)
        if (variables->contains(name)) {
            const std::string path = "chat_template_kwargs." + std::string(name);
            fields.fail(path, "'" + path + "' is a reserved name");
        }
    if (json::serialize(*variables).size() > kMaxTemplateVariableBytes)
        fields.fail("chat_template_kwargs", "'chat_template_kwargs' is larger than " +
                                                std::to_string(kMaxTemplateVariableBytes) +
                                                " bytes");
    request.template_variables = *variables;
}

// Reasoning models read it as a variable of their template; the others have no use for it.
void read_effort(Fields& fields, ChatRequest& request) {
    const auto effort = fields.text("reasoning_effort");
    if (effort && effort->size() > 64)
        fields.fail("reasoning_effort", "'reasoning_effort' is longer than 64 bytes");
    if (effort) request.template_variables.emplace("reasoning_effort", *effort);
}

Prompt read_ids_prompt(const json::array& list, const std::string& path, Fields& fields) {
    if (list.empty()) fields.fail(path, "'" + path + "' has no token ids");
    return read_ids(list, path, fields);
}

// A string, a list of token ids, or a list of either.
std::vector<Prompt> read_prompts(Fields& fields) {
    const json::value* prompt = fields.value("prompt");
    if (const json::string* text = prompt != nullptr ? prompt->if_string() : nullptr)
        return {std::string(*text)};
    const json::array* list = prompt != nullptr ? prompt->if_array() : nullptr;
    if (list == nullptr || list->empty()) {
        fields.fail("prompt",
                    "'prompt' must be a string, a list of token ids, or a list of such prompts");
        return {};
    }
    if (list->front().is_number()) return {read_ids_prompt(*list, "prompt", fields)};
    if (list->size() > kMaxPrompts)
        fields.fail("prompt", "'prompt' has more than " + std::to_string(kMaxPrompts) + " prompts");
    std::vector<Prompt> prompts;
    for (std::size_t i = 0; i < list->size() && !fields.failure(); ++i) {
        const std::string path = "prompt[" + std::to_string(i) + "]";
        if (const json::string* text = (*list)[i].if_string())
            prompts.emplace_back(std::string(*text));
        else if (const json::array* ids = (*list)[i].if_array())
            prompts.push_back(read_ids_prompt(*ids, path, fields));
        else
            fields.fail(path, "'" + path + "' must be a string or a list of token ids");
    }
    return prompts;
}

json::value to_json(const Prompt& prompt) {
    if (const auto* text = std::get_if<std::string>(&prompt)) return json::value(*text);
    return json::value_from(std::get<std::vector<std::int32_t>>(prompt));
}

void read_chat_logprobs(Fields& fields, GenerationOptions& options) {
    const bool wanted = fields.flag("logprobs").value_or(false);
    const auto top = fields.integer("top_logprobs", {0, kMaxTopLogprobs});
    if (top && *top > 0 && !wanted)
        fields.fail("top_logprobs", "'top_logprobs' needs \"logprobs\": true");
    if (wanted) options.logprobs = static_cast<int>(top.value_or(0));
}

}  // namespace

ChatRequest read_chat_request(Fields& fields) {
    ChatRequest request;
    request.options = read_options(fields);
    request.messages = read_messages(fields);
    request.add_generation_prompt = fields.flag("add_generation_prompt").value_or(true);
    read_chat_logprobs(fields, request.options);
    read_tools(fields, request);
    read_template_variables(fields, request);
    read_effort(fields, request);
    return request;
}

CompletionRequest read_completion_request(Fields& fields) {
    CompletionRequest request;
    request.options = read_options(fields);
    request.parse_special = fields.flag("parse_special").value_or(true);
    if (const auto top = fields.integer("logprobs", {0, kMaxTopLogprobs}))
        request.options.logprobs = static_cast<int>(*top);
    request.prompts = read_prompts(fields);
    if (request.prompts.size() * static_cast<std::size_t>(request.options.choices) >
        kMaxRequestChoices)
        fields.fail("n", "the prompts times 'n' give more than " +
                             std::to_string(kMaxRequestChoices) + " choices");
    return request;
}

json::object to_json(const ChatRequest& request) {
    json::object out;
    write_options(request.options, out);
    out["messages"] = request.messages;
    if (!request.tools.empty()) out["tools"] = request.tools;
    if (!request.template_variables.empty())
        out["chat_template_kwargs"] = request.template_variables;
    if (!request.add_generation_prompt) out["add_generation_prompt"] = false;
    if (request.options.logprobs >= 0) out["logprobs"] = true;
    if (request.options.logprobs > 0) out["top_logprobs"] = request.options.logprobs;
    return out;
}

json::object to_json(const CompletionRequest& request) {
    json::object out;
    write_options(request.options, out);
    if (request.prompts.size() == 1) {
        out["prompt"] = to_json(request.prompts.front());
    } else {
        json::array& list = out["prompt"].emplace_array();
        for (const Prompt& prompt : request.prompts) list.push_back(to_json(prompt));
    }
    if (!request.parse_special) out["parse_special"] = false;
    if (request.options.logprobs >= 0) out["logprobs"] = request.options.logprobs;
    return out;
}

}  // namespace hearth::protocol
