// A body → a struct of ipc/protocol, or what is wrong with it.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "ipc/protocol/fields.h"

namespace hearth::api {

template <typename Read>
auto read_body(std::string_view body, Read read)
    -> std::variant<decltype(read(std::declval<protocol::Fields&>())), protocol::Failure> {
    const auto value = protocol::parse_json(body);
    if (!value) return protocol::Failure{value.error(), {}};
    const boost::json::object* object = value->if_object();
    if (object == nullptr)
        return protocol::Failure{{ErrorCode::bad_input, "the body must be a JSON object"}, {}};
    protocol::Fields fields(*object);
    auto request = read(fields);
    if (fields.failure()) return *fields.failure();
    return request;
}

}  // namespace hearth::api
