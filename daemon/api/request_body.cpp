#include "daemon/api/request_body.h"

#include "daemon/api/failure_reply.h"
#include "ipc/protocol/version.h"

namespace hearth::api {
namespace {

constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxListBytes = 1000;

// A client wrote these: what could end a header or be taken for the list's own comma is replaced.
std::string header_list(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        std::string shown = name.substr(0, kMaxNameBytes);
        for (char& c : shown)
            if (c <= ' ' || c > '~' || c == ',') c = '?';
        if (list.size() + shown.size() > kMaxListBytes) return list + ", ...";
        list += (list.empty() ? "" : ", ") + shown;
    }
    return list;
}

}  // namespace

std::optional<boost::json::object> body::object_of(const std::string& text, ReplyStream& stream) {
    auto value = protocol::parse_json(text);
    if (!value) {
        stream.send(failure_reply(value.error()));
        return std::nullopt;
    }
    if (boost::json::object* object = value->if_object()) return std::move(*object);
    stream.send(failure_reply(Error{ErrorCode::bad_input, "the body must be a JSON object"}));
    return std::nullopt;
}

bool body::check(const protocol::Fields& fields, ReplyStream& stream) {
    // A reader stops at the first thing that is wrong, so that what it did not ask for means
    // nothing.
    if (fields.failure()) {
        stream.send(failure_reply(*fields.failure()));
        return false;
    }
    const std::vector<std::string> unknown = fields.unknown();
    if (!unknown.empty()) stream.add_header(protocol::kUnknownFieldsHeader, header_list(unknown));
    return true;
}

}  // namespace hearth::api
