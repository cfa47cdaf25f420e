#include "ipc/protocol/events.h"

#include "ipc/protocol/lists.h"

namespace hearth::protocol {
namespace {

int count(Fields& fields, std::string_view name) {
    return static_cast<int>(fields.integer(name, {0, INT32_MAX}).value_or(0));
}

template <typename Part>
json::array list_json(const std::vector<Part>& parts) {
    json::array out;
    for (const Part& part : parts) out.emplace_back(to_json(part));
    return out;
}

}  // namespace

json::object to_json(const GenerationInfo& info) {
    json::object out = {{"generation", info.generation},
                        {"model", info.model},
                        {"client", info.client},
                        {"priority", info.priority},
                        {"state", info.state},
                        {"prompt_tokens", info.prompt_tokens},
                        {"cached_tokens", info.cached_tokens},
                        {"generated_tokens", info.generated_tokens},
                        {"age_ms", info.age_ms},
                        {"first_token_ms", info.first_token_ms},
                        {"queue_ms", info.queue_ms},
                        {"prompt_ms", info.prompt_ms},
                        {"generation_ms", info.generation_ms}};
    if (!info.error.empty()) out["error"] = info.error;
    return out;
}

GenerationInfo read_generation_info(Fields& fields) {
    GenerationInfo info;
    info.generation = fields.size("generation").value_or(0);
    info.model = fields.text("model").value_or("");
    info.client = fields.text("client").value_or("");
    info.priority = fields.text("priority").value_or("");
    info.state = fields.text("state").value_or("");
    info.error = fields.text("error").value_or("");
    info.prompt_tokens = count(fields, "prompt_tokens");
    info.cached_tokens = count(fields, "cached_tokens");
    info.generated_tokens = count(fields, "generated_tokens");
    info.age_ms = fields.number("age_ms").value_or(0);
    info.first_token_ms = fields.number("first_token_ms").value_or(0);
    info.queue_ms = fields.number("queue_ms").value_or(0);
    info.prompt_ms = fields.number("prompt_ms").value_or(0);
    info.generation_ms = fields.number("generation_ms").value_or(0);
    return info;
}

json::object to_json(const ImportInfo& info) {
    json::object out = {{"import", info.import}, {"file", info.file}};
    if (!info.model.empty()) out["model"] = info.model;
    if (!info.error.empty()) out["error"] = info.error;
    return out;
}

ImportInfo read_import_info(Fields& fields) {
    ImportInfo info;
    info.import = fields.size("import").value_or(0);
    info.file = fields.text("file").value_or("");
    info.model = fields.text("model").value_or("");
    info.error = fields.text("error").value_or("");
    return info;
}

json::object to_json(const Snapshot& snapshot) {
    return {{"status", to_json(snapshot.status)},
            {"models", list_json(snapshot.models)},
            {"generations", list_json(snapshot.generations)},
            {"imports", list_json(snapshot.imports)}};
}

Snapshot read_snapshot(Fields& fields) {
    Snapshot snapshot;
    if (const json::object* status = fields.object("status")) {
        Fields reader(*status, "status");
        snapshot.status = read_status(reader);
        fields.adopt(reader);
    }
    snapshot.models = read_list(fields, "models", read_model_entry);
    snapshot.generations = read_list(fields, "generations", read_generation_info);
    snapshot.imports = read_list(fields, "imports", read_import_info);
    return snapshot;
}

}  // namespace hearth::protocol
