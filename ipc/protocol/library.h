// Installed models: what the daemon says about them, and how to import one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

struct ModelEntry {
    std::string id;    // what requests name: "smollm2-135m-instruct-q4-1"
    std::string name;  // for people
    std::string path;
    std::uint64_t size = 0;  // bytes
    std::string sha256;      // 64 hex digits
    std::string architecture;
    std::string quantization;
    int context = 0;  // tokens the model was trained for
    std::uint64_t parameters = 0;
    bool has_chat_template = false;
    std::string unsupported;  // why this build cannot run it; empty when it can
    std::string quarantined;  // why it is loaded by force only; empty when it is not
    std::int64_t added = 0;   // seconds since 1970
    bool in_place = false;    // the file lies outside Hearth's own folder and stays there
    std::string state;        // "ok", "missing", "changed"
    bool loaded = false;
    bool is_default = false;  // what requests without a model get
};

enum class Link : std::uint8_t {
    automatic,  // hard link where possible, else reflink, else copy
    copy,       // own data (a reflink where the file system has them)
    hardlink,   // fails where that is not possible
    in_place,   // the file stays where it is
};
std::string_view to_string(Link link);
std::optional<Link> link_from_string(std::string_view name);

struct ImportRequest {
    std::string path;  // absolute
    std::string name;  // empty: the file's
    Link link = Link::automatic;
};
struct ImportReply {
    ModelEntry model;
    bool existed = false;  // the same content was there already
    std::string placed;    // "hardlink", "reflink", "copy", "in_place"; empty when it existed
};

struct LoadRequest {
    bool force = false;  // load it even when it is quarantined
};

json::object to_json(const LoadRequest& request);
LoadRequest read_load_request(Fields& fields);
json::object to_json(const ModelEntry& entry);
ModelEntry read_model_entry(Fields& fields);
json::object to_json(const ImportRequest& request);
ImportRequest read_import_request(Fields& fields);
json::object to_json(const ImportReply& reply);
ImportReply read_import_reply(Fields& fields);

// {"models": […]}
json::object to_json(const std::vector<ModelEntry>& entries);
std::vector<ModelEntry> read_model_list(Fields& fields);

}  // namespace hearth::protocol
