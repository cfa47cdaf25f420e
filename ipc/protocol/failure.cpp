#include "ipc/protocol/failure.h"

#include "engine/base/utf8.h"

namespace hearth::protocol {
namespace {

std::string text_of(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    const json::string* text = value != nullptr ? value->if_string() : nullptr;
    return text != nullptr ? std::string(*text) : std::string();
}

}  // namespace

json::object to_json(const Failure& failure, std::string_view type) {
    json::object error;
    error["code"] = to_string(failure.error.code);
    // Messages may quote foreign bytes: a file name, a template's own words.
    error["message"] = repair_utf8(failure.error.message);
    error["type"] = type;
    if (failure.param.empty())
        error["param"] = nullptr;
    else
        error["param"] = failure.param;
    return {{"error", std::move(error)}};
}

Failure failure_from_json(const json::value& body) {
    const json::object* outer = body.if_object();
    const json::value* inner = outer != nullptr ? outer->if_contains("error") : nullptr;
    const json::object* error = inner != nullptr ? inner->if_object() : nullptr;
    if (error == nullptr)
        return {{ErrorCode::internal, "the daemon answered with an error that has no body"}, {}};
    return {{error_code_from_string(text_of(*error, "code")), text_of(*error, "message")},
            text_of(*error, "param")};
}

}  // namespace hearth::protocol
