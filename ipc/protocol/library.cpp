#include "ipc/protocol/library.h"

#include <array>
#include <utility>

namespace hearth::protocol {
namespace {

constexpr std::array<std::pair<Link, std::string_view>, 4> kLinks = {{
    {Link::automatic, "auto"},
    {Link::copy, "copy"},
    {Link::hardlink, "hardlink"},
    {Link::in_place, "in_place"},
}};

}  // namespace

std::string_view to_string(Link link) {
    for (const auto& [value, name] : kLinks)
        if (value == link) return name;
    return "";
}

std::optional<Link> link_from_string(std::string_view name) {
    for (const auto& [value, text] : kLinks)
        if (text == name) return value;
    return std::nullopt;
}

json::object to_json(const ModelEntry& entry) {
    json::object out = {{"id", entry.id},
                        {"name", entry.name},
                        {"path", entry.path},
                        {"size", entry.size},
                        {"sha256", entry.sha256},
                        {"architecture", entry.architecture},
                        {"quantization", entry.quantization},
                        {"context", entry.context},
                        {"parameters", entry.parameters},
                        {"has_chat_template", entry.has_chat_template},
                        {"added", entry.added},
                        {"in_place", entry.in_place},
                        {"state", entry.state},
                        {"loaded", entry.loaded},
                        {"is_default", entry.is_default}};
    if (!entry.unsupported.empty()) out["unsupported"] = entry.unsupported;
    if (!entry.quarantined.empty()) out["quarantined"] = entry.quarantined;
    return out;
}

ModelEntry read_model_entry(Fields& fields) {
    ModelEntry entry;
    entry.id = fields.required_text("id");
    entry.name = fields.text("name").value_or("");
    entry.path = fields.text("path").value_or("");
    entry.size = fields.size("size").value_or(0);
    entry.sha256 = fields.text("sha256").value_or("");
    entry.architecture = fields.text("architecture").value_or("");
    entry.quantization = fields.text("quantization").value_or("");
    entry.context = static_cast<int>(fields.integer("context", {0, INT32_MAX}).value_or(0));
    entry.parameters = fields.size("parameters").value_or(0);
    entry.has_chat_template = fields.flag("has_chat_template").value_or(false);
    entry.unsupported = fields.text("unsupported").value_or("");
    entry.quarantined = fields.text("quarantined").value_or("");
    entry.added = fields.integer("added").value_or(0);
    entry.in_place = fields.flag("in_place").value_or(false);
    entry.state = fields.text("state").value_or("");
    entry.loaded = fields.flag("loaded").value_or(false);
    entry.is_default = fields.flag("is_default").value_or(false);
    return entry;
}

json::object to_json(const LoadRequest& request) {
    json::object out;
    if (request.force) out["force"] = true;
    return out;
}

LoadRequest read_load_request(Fields& fields) {
    return {.force = fields.flag("force").value_or(false)};
}

json::object to_json(const ImportRequest& request) {
    json::object out = {{"path", request.path}, {"link", to_string(request.link)}};
    if (!request.name.empty()) out["name"] = request.name;
    return out;
}

ImportRequest read_import_request(Fields& fields) {
    ImportRequest request;
    request.path = fields.required_text("path");
    if (!request.path.empty() && request.path.front() != '/')
        fields.fail("path", "'path' must be an absolute path");
    if (request.path.empty()) fields.fail("path", "'path' is empty");
    if (request.path.find('\0') != std::string::npos)
        fields.fail("path", "'path' has a zero byte in it");
    request.name = fields.text("name").value_or("");
    if (request.name.size() > 200) fields.fail("name", "'name' is longer than 200 bytes");
    if (const auto word = fields.text("link")) {
        const auto link = link_from_string(*word);
        if (!link)
            fields.fail("link", "'link' must be \"auto\", \"copy\", \"hardlink\" or \"in_place\"");
        request.link = link.value_or(Link::automatic);
    }
    return request;
}

json::object to_json(const ImportReply& reply) {
    json::object out = {{"model", to_json(reply.model)}, {"existed", reply.existed}};
    if (!reply.placed.empty()) out["placed"] = reply.placed;
    return out;
}

ImportReply read_import_reply(Fields& fields) {
    ImportReply reply;
    if (const json::object* model = fields.object("model")) {
        Fields reader(*model, "model");
        reply.model = read_model_entry(reader);
        fields.adopt(reader);
    }
    reply.existed = fields.flag("existed").value_or(false);
    reply.placed = fields.text("placed").value_or("");
    return reply;
}

json::object to_json(const std::vector<ModelEntry>& entries) {
    json::array list;
    for (const ModelEntry& entry : entries) list.emplace_back(to_json(entry));
    return {{"models", std::move(list)}};
}

std::vector<ModelEntry> read_model_list(Fields& fields) {
    std::vector<ModelEntry> entries;
    const json::array* list = fields.array("models");
    if (list == nullptr) return entries;
    for (const json::value& value : *list) {
        const json::object* object = value.if_object();
        if (object == nullptr) {
            fields.fail("models", "an entry of 'models' is not an object");
            return entries;
        }
        Fields reader(*object, "models");
        entries.push_back(read_model_entry(reader));
        fields.adopt(reader);
    }
    return entries;
}

}  // namespace hearth::protocol
