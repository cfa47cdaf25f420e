// The fields that chat and completion requests share.
#include <charconv>
#include <limits>

#include "ipc/protocol/parts.h"

namespace hearth::protocol {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxStopBytes = 4096;

void read_max_tokens(Fields& fields, GenerationOptions& options) {
    // The newer name wins where a client sends both.
    for (const char* name : {"max_tokens", "max_completion_tokens"})
        if (const auto limit = fields.integer(name, {1, kMaxInt32}))
            options.max_tokens = static_cast<int>(*limit);
}

void read_logit_bias(Fields& fields, GenerationOptions& options) {
    const json::object* table = fields.object("logit_bias");
    if (table == nullptr) return;
    if (table->size() > kMaxLogitBias)
        return fields.fail("logit_bias", "'logit_bias' has more than " +
                                             std::to_string(kMaxLogitBias) + " entries");
    Fields entries(*table, fields.path_of("logit_bias"));
    for (const auto& entry : *table) {
        const std::string_view key = entry.key();
        std::int32_t id = -1;
        const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), id);
        // std::to_string: "07" and "7" would be two entries for one token.
        if (problem != std::errc() || end != key.data() + key.size() || std::to_string(id) != key ||
            id < 0)
            return fields.fail("logit_bias", "the keys of 'logit_bias' must be token ids");
        if (const auto bias = entries.number(key, {-100.0, 100.0}))
            options.logit_bias.emplace_back(id, *bias);
    }
    fields.adopt(entries);
}

void add_stop(const json::value& value, Fields& fields, GenerationOptions& options) {
    const json::string* text = value.if_string();
    if (text == nullptr || text->empty() || text->size() > kMaxStopBytes)
        return fields.fail("stop", "each entry of 'stop' must be a string of 1 to " +
                                       std::to_string(kMaxStopBytes) + " bytes");
    options.stop.emplace_back(*text);
}

void read_stop(Fields& fields, GenerationOptions& options) {
    const json::value* value = fields.value("stop");
    if (value == nullptr) return;
    const json::array* list = value->if_array();
    if (list == nullptr) return add_stop(*value, fields, options);
    if (list->size() > kMaxStops)
        return fields.fail("stop",
                           "'stop' has more than " + std::to_string(kMaxStops) + " entries");
    for (const json::value& entry : *list) add_stop(entry, fields, options);
}

void read_seed(Fields& fields, GenerationOptions& options) {
    const json::value* value = fields.value("seed");
    if (value == nullptr) return;
    if (value->is_uint64())
        options.seed = value->get_uint64();
    else if (const auto seed = fields.integer("seed"))
        options.seed = static_cast<std::uint64_t>(*seed);  // negative ones keep their bits
}

void read_stream(Fields& fields, GenerationOptions& options) {
    options.stream = fields.flag("stream").value_or(false);
    if (const json::object* more = fields.object("stream_options")) {
        Fields part(*more, fields.path_of("stream_options"));
        options.include_usage = part.flag("include_usage").value_or(false);
        part.allow(
            {"include_obfuscation"});  // padding against eavesdroppers; there is no wire here
        fields.adopt(part);
    }
}

void read_priority(Fields& fields, GenerationOptions& options) {
    const auto priority = fields.text("priority");
    if (!priority) return;
    if (*priority != "interactive" && *priority != "api" && *priority != "background")
        fields.fail("priority", "'priority' must be \"interactive\", \"api\" or \"background\"");
    options.priority = *priority;
}

// What OpenAI's clients send and what changes no answer here: a note for the provider's own books,
// or a hint at what would be quicker.
void allow_harmless(Fields& fields) {
    fields.allow({"metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                  "prompt_cache_retention", "prediction", "parallel_tool_calls"});
}

// Fields whose meaning we cannot give are refused, never dropped in silence.
void refuse_unserved(Fields& fields) {
    if (const json::object* format = fields.object("response_format")) {
        Fields part(*format, "response_format");
        if (part.required_text("type") != "text")
            part.fail("response_format.type", "'response_format' serves only {\"type\": \"text\"}");
        fields.adopt(part);
    }
    if (fields.flag("echo").value_or(false))
        fields.fail("echo", "'echo' is not served; `hearth perplexity` gives a prompt's logprobs");
    if (fields.value("suffix") != nullptr) fields.fail("suffix", "'suffix' is not served");
    if (fields.integer("best_of", {1, kMaxInt32}).value_or(1) > 1)
        fields.fail("best_of", "'best_of' is not served; ask for several choices with 'n'");
    for (const char* name : {"functions", "function_call"})
        if (fields.value(name) != nullptr)
            fields.fail(name, "'" + std::string(name) + "' is not served; use 'tools'");
    for (const char* name : {"audio", "web_search_options", "chat_template"})
        if (fields.value(name) != nullptr)
            fields.fail(name, "'" + std::string(name) + "' is not served");
    if (const json::array* modalities = fields.array("modalities"))
        if (modalities->size() != 1 || modalities->front() != json::value("text"))
            fields.fail("modalities", "'modalities' serves only [\"text\"]");
}

}  // namespace

std::vector<std::int32_t> read_ids(const json::array& list, const std::string& path,
                                   Fields& fields) {
    std::vector<std::int32_t> ids;
    ids.reserve(list.size());
    for (const json::value& value : list) {
        const std::int64_t id = value.is_int64() ? value.get_int64() : -1;
        if (id < 0 || id > kMaxInt32) {
            fields.fail(path, "entry " + std::to_string(ids.size()) + " of '" + path +
                                  "' is not a token id");
            return {};
        }
        ids.push_back(static_cast<std::int32_t>(id));
    }
    return ids;
}

GenerationOptions read_options(Fields& fields) {
    GenerationOptions options;
    options.model = fields.text("model").value_or("");
    read_max_tokens(fields, options);
    options.temperature = fields.number("temperature", {0.0, 2.0}).value_or(1.0);
    options.top_k = static_cast<int>(fields.integer("top_k", {-1, kMaxInt32}).value_or(0));
    if (options.top_k < 0) options.top_k = 0;
    options.top_p = fields.number("top_p", {0.0, 1.0, true}).value_or(1.0);
    options.min_p = fields.number("min_p", {0.0, 1.0}).value_or(0.0);
    options.repetition_penalty =
        fields.number("repetition_penalty", {0.0, 2.0, true}).value_or(1.0);
    options.presence_penalty = fields.number("presence_penalty", {-2.0, 2.0}).value_or(0.0);
    options.frequency_penalty = fields.number("frequency_penalty", {-2.0, 2.0}).value_or(0.0);
    read_logit_bias(fields, options);
    read_seed(fields, options);
    options.choices = static_cast<int>(fields.integer("n", {1, kMaxChoices}).value_or(1));
    read_stop(fields, options);
    read_stream(fields, options);
    options.return_token_ids = fields.flag("return_token_ids").value_or(false);
    options.ignore_end = fields.flag("ignore_eos").value_or(false);
    read_priority(fields, options);
    options.client = fields.text("user").value_or("");
    options.timeout_s = fields.number("timeout_s", {0.0, 86400.0, true});
    options.cache_salt = fields.text("cache_salt").value_or("");
    allow_harmless(fields);
    refuse_unserved(fields);
    return options;
}

void write_options(const GenerationOptions& options, json::object& out) {
    const GenerationOptions defaults;
    const auto put = [&](const char* name, const auto& value, const auto& fallback) {
        if (value != fallback) out[name] = value;
    };
    put("model", options.model, defaults.model);
    put("max_tokens", options.max_tokens, defaults.max_tokens);
    put("temperature", options.temperature, defaults.temperature);
    put("top_k", options.top_k, defaults.top_k);
    put("top_p", options.top_p, defaults.top_p);
    put("min_p", options.min_p, defaults.min_p);
    put("repetition_penalty", options.repetition_penalty, defaults.repetition_penalty);
    put("presence_penalty", options.presence_penalty, defaults.presence_penalty);
    put("frequency_penalty", options.frequency_penalty, defaults.frequency_penalty);
    put("n", options.choices, defaults.choices);
    put("stream", options.stream, defaults.stream);
    put("return_token_ids", options.return_token_ids, defaults.return_token_ids);
    put("ignore_eos", options.ignore_end, defaults.ignore_end);
    put("priority", options.priority, defaults.priority);
    put("user", options.client, defaults.client);
    put("cache_salt", options.cache_salt, defaults.cache_salt);
    if (options.seed) out["seed"] = *options.seed;
    if (options.timeout_s) out["timeout_s"] = *options.timeout_s;
    if (!options.stop.empty()) out["stop"] = json::array(options.stop.begin(), options.stop.end());
    if (options.include_usage) out["stream_options"] = {{"include_usage", true}};
    if (options.logit_bias.empty()) return;
    json::object& biases = out["logit_bias"].emplace_object();
    for (const auto& [id, bias] : options.logit_bias) biases[std::to_string(id)] = bias;
}

}  // namespace hearth::protocol
