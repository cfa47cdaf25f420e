#include "ipc/protocol/status.h"

namespace hearth::protocol {
namespace {

int count(Fields& fields, std::string_view name) {
    return static_cast<int>(fields.integer(name, {0, INT32_MAX}).value_or(0));
}

json::object sandbox_json(const Sandbox& sandbox) {
    json::object out = {{"no_new_privileges", sandbox.no_new_privileges},
                        {"seccomp", sandbox.seccomp},
                        {"landlock", sandbox.landlock}};
    if (!sandbox.missing.empty()) out["missing"] = sandbox.missing;
    return out;
}

Sandbox read_sandbox(Fields& fields) {
    Sandbox sandbox;
    sandbox.no_new_privileges = fields.flag("no_new_privileges").value_or(false);
    sandbox.seccomp = fields.flag("seccomp").value_or(false);
    sandbox.landlock = count(fields, "landlock");
    sandbox.missing = fields.text("missing").value_or("");
    return sandbox;
}

json::object tcp_json(const TcpStatus& tcp) {
    json::object out = {{"on", tcp.on}};
    if (!tcp.base_url.empty()) out["base_url"] = tcp.base_url;
    if (!tcp.reason.empty()) out["reason"] = tcp.reason;
    return out;
}

TcpStatus read_tcp(Fields& fields) {
    TcpStatus tcp;
    tcp.on = fields.flag("on").value_or(false);
    tcp.base_url = fields.text("base_url").value_or("");
    tcp.reason = fields.text("reason").value_or("");
    return tcp;
}

void read_quarantined(Fields& fields, Status& status) {
    const json::array* list = fields.array("quarantined");
    if (list == nullptr) return;
    for (const json::value& value : *list) {
        const json::object* object = value.if_object();
        if (object == nullptr)
            return fields.fail("quarantined", "an entry of 'quarantined' is not an object");
        Fields reader(*object, "quarantined");
        status.quarantined.push_back(
            {reader.required_text("id"), reader.text("reason").value_or("")});
        fields.adopt(reader);
    }
}

}  // namespace

json::object to_json(const LoadedModel& model) {
    return {{"id", model.id},
            {"path", model.path},
            {"state", model.state},
            {"pid", model.pid},
            {"backend", model.backend},
            {"context", model.context},
            {"weight_bytes", model.weight_bytes},
            {"kv_bytes", model.kv_bytes},
            {"resident_bytes", model.resident_bytes},
            {"private_bytes", model.private_bytes},
            {"load_ms", model.load_ms},
            {"unused_ms", model.unused_ms},
            {"generations", model.generations},
            {"running", model.running},
            {"waiting", model.waiting},
            {"pages_free", model.pages_free},
            {"pages_total", model.pages_total},
            {"steps", model.steps},
            {"prompt_tokens", model.prompt_tokens},
            {"generated_tokens", model.generated_tokens},
            {"sandbox", sandbox_json(model.sandbox)}};
}

LoadedModel read_loaded_model(Fields& fields) {
    LoadedModel model;
    model.id = fields.required_text("id");
    model.path = fields.text("path").value_or("");
    model.state = fields.text("state").value_or("");
    model.pid = count(fields, "pid");
    model.backend = fields.text("backend").value_or("");
    model.context = count(fields, "context");
    model.weight_bytes = fields.size("weight_bytes").value_or(0);
    model.kv_bytes = fields.size("kv_bytes").value_or(0);
    model.resident_bytes = fields.size("resident_bytes").value_or(0);
    model.private_bytes = fields.size("private_bytes").value_or(0);
    model.load_ms = fields.number("load_ms").value_or(0.0);
    model.unused_ms = fields.number("unused_ms").value_or(0.0);
    model.generations = count(fields, "generations");
    model.running = count(fields, "running");
    model.waiting = count(fields, "waiting");
    model.pages_free = count(fields, "pages_free");
    model.pages_total = count(fields, "pages_total");
    model.steps = fields.size("steps").value_or(0);
    model.prompt_tokens = fields.size("prompt_tokens").value_or(0);
    model.generated_tokens = fields.size("generated_tokens").value_or(0);
    if (const json::object* sandbox = fields.object("sandbox")) {
        Fields reader(*sandbox, fields.path_of("sandbox"));
        model.sandbox = read_sandbox(reader);
        fields.adopt(reader);
    }
    return model;
}

json::object to_json(const Status& status) {
    json::object out = {{"version", status.version},
                        {"build", status.build},
                        {"protocol", status.protocol},
                        {"pid", status.pid},
                        {"uptime_s", status.uptime_s},
                        {"socket", status.socket},
                        {"tcp", tcp_json(status.tcp)},
                        {"connections", status.connections},
                        {"resident_bytes", status.resident_bytes},
                        {"installed", status.installed},
                        {"running", status.running},
                        {"idle_unload_s", status.idle_unload_s}};
    if (!status.log.empty()) out["log"] = status.log;
    json::array& notes = out["notes"].emplace_array();
    for (const std::string& note : status.notes) notes.emplace_back(note);
    json::array& models = out["models"].emplace_array();
    for (const LoadedModel& model : status.models) models.emplace_back(to_json(model));
    json::array& quarantined = out["quarantined"].emplace_array();
    for (const Quarantined& model : status.quarantined)
        quarantined.emplace_back(json::object{{"id", model.id}, {"reason", model.reason}});
    return out;
}

Status read_status(Fields& fields) {
    Status status;
    status.version = fields.text("version").value_or("");
    status.build = fields.text("build").value_or("");
    status.protocol = count(fields, "protocol");
    status.pid = count(fields, "pid");
    status.uptime_s = fields.number("uptime_s").value_or(0.0);
    status.socket = fields.text("socket").value_or("");
    if (const json::object* tcp = fields.object("tcp")) {
        Fields reader(*tcp, fields.path_of("tcp"));
        status.tcp = read_tcp(reader);
        fields.adopt(reader);
    }
    status.connections = count(fields, "connections");
    status.resident_bytes = fields.size("resident_bytes").value_or(0);
    status.installed = count(fields, "installed");
    status.running = count(fields, "running");
    status.idle_unload_s = fields.number("idle_unload_s").value_or(0.0);
    status.log = fields.text("log").value_or("");
    if (const json::array* notes = fields.array("notes"))
        for (const json::value& note : *notes)
            if (const json::string* text = note.if_string()) status.notes.emplace_back(*text);
    read_quarantined(fields, status);
    const json::array* models = fields.array("models");
    if (models == nullptr) return status;
    for (const json::value& value : *models) {
        const json::object* object = value.if_object();
        if (object == nullptr) {
            fields.fail("models", "an entry of 'models' is not an object");
            return status;
        }
        Fields reader(*object, "models");
        status.models.push_back(read_loaded_model(reader));
        fields.adopt(reader);
    }
    return status;
}

}  // namespace hearth::protocol
