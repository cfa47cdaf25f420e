// Template, tokens and checks of a prompt.
#include "engine/generate/prompt.h"

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/chat/node.h"
#include "engine/text/tokenizer.h"

namespace hearth::generate {

namespace {

bool is_developer(const chat::Value& message) {
    const chat::Value* role = message.find("role");
    return role != nullptr && role->kind() == chat::Kind::string &&
           role->as_string() == "developer";
}

chat::Value as_system(const chat::Value& message) {
    if (!is_developer(message)) return message;
    std::vector<chat::Member> members;
    for (const chat::Entry& entry : chat::ValueAccess::object(message).entries())
        if (entry.key.kind() == chat::Kind::string)
            members.push_back({std::string(entry.key.as_string()), entry.value});
    for (chat::Member& member : members)
        if (member.key == "role") member.value = chat::Value::string("system");
    return chat::Value::object(std::move(members));
}

// The caller's variables, and the tokens that templates expect from the model. Those are trusted
// text.
chat::Value with_model_tokens(const text::Tokenizer& tokenizer, const chat::Value& variables) {
    std::vector<chat::Member> members;
    for (const chat::Entry& entry : chat::ValueAccess::object(variables).entries())
        if (entry.key.kind() == chat::Kind::string)
            members.push_back({std::string(entry.key.as_string()), entry.value});
    const auto add = [&](const char* name, std::optional<text::TokenId> id) {
        if (variables.find(name) != nullptr || !id) return;
        members.push_back({name, chat::Value::string(tokenizer.piece(*id), chat::Origin::trusted)});
    };
    add("bos_token", tokenizer.bos());
    add("eos_token", tokenizer.eos());
    add("unk_token", tokenizer.unknown());
    add("pad_token", tokenizer.padding());
    return chat::Value::object(std::move(members));
}

// "developer" is OpenAI's later name for "system"; most templates know the earlier one only, and
// refuse or skip the other.
chat::Value with_system_role(const chat::Value& variables) {
    std::vector<chat::Member> members;
    for (const chat::Entry& entry : chat::ValueAccess::object(variables).entries()) {
        if (entry.key.kind() != chat::Kind::string) continue;
        const std::string key(entry.key.as_string());
        if (key != "messages" || entry.value.kind() != chat::Kind::list) {
            members.push_back({key, entry.value});
            continue;
        }
        std::vector<chat::Value> messages;
        for (const chat::Value& message : entry.value.as_list())
            messages.push_back(as_system(message));
        members.push_back({key, chat::Value::list(std::move(messages))});
    }
    return chat::Value::object(std::move(members));
}

}  // namespace

chat::LocalTime local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return {.year = local.tm_year + 1900,
            .month = local.tm_mon + 1,
            .day = local.tm_mday,
            .hour = local.tm_hour,
            .minute = local.tm_min,
            .second = local.tm_sec};
}

Result<MarkedText> render_chat(const LoadedModel& model, const chat::Value& variables) {
    if (!model.chat_template)
        return Error{
            ErrorCode::template_failed,
            model.info.chat_unavailable.empty()
                ? "the model has no chat template; send a text prompt instead"
                : "the model's chat template cannot be used: " + model.info.chat_unavailable};
    if (variables.kind() != chat::Kind::object)
        return Error{ErrorCode::bad_input, "the variables of a chat template must be an object"};
    const chat::Value complete = with_model_tokens(model.tokenizer, variables);
    return model.chat_template->render(
        model.knows_developer ? complete : with_system_role(complete),
        {.now = local_time(), .limits = {}});
}

Result<PromptTokens> tokenize(const LoadedModel& model, const Prompt& prompt,
                              std::optional<bool> add_bos) {
    const bool with_bos = add_bos.value_or(model.tokenizer.adds_bos());
    PromptTokens tokens;
    if (const auto* chat = std::get_if<ChatPrompt>(&prompt)) {
        HEARTH_TRY(MarkedText text, render_chat(model, chat->variables));
        HEARTH_TRY(tokens.ids, model.tokenizer.encode(text, with_bos));
        tokens.text = std::move(text.text);
    } else if (const auto* text = std::get_if<TextPrompt>(&prompt)) {
        HEARTH_TRY(tokens.ids,
                   model.tokenizer.encode(
                       text->text, {.add_bos = with_bos, .parse_special = text->parse_special}));
    } else {
        tokens.ids = std::get<IdsPrompt>(prompt).ids;
    }
    HEARTH_TRY_VOID(check_ids(model, tokens.ids));
    return tokens;
}

Result<std::vector<std::int32_t>> prompt_ids(const LoadedModel& model, const Prompt& prompt) {
    HEARTH_TRY(PromptTokens tokens, tokenize(model, prompt, std::nullopt));
    if (tokens.ids.empty())
        return Error{ErrorCode::bad_input, "the prompt is empty; at least one token is needed"};
    return std::move(tokens.ids);
}

Result<void> check_ids(const LoadedModel& model, const std::vector<std::int32_t>& ids) {
    for (const std::int32_t id : ids)
        if (id < 0 || id >= model.tokenizer.size())
            return Error{ErrorCode::bad_input,
                         "token id " + std::to_string(id) + " is not in the vocabulary of " +
                             std::to_string(model.tokenizer.size()) + " tokens"};
    return {};
}

}  // namespace hearth::generate
