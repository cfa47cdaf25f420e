// A body → a struct of ipc/protocol, or the answer that says what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/router.h"
#include "ipc/protocol/fields.h"

namespace hearth::api {

namespace body {

// The object of a body, or nothing when it has been answered that there is none.
std::optional<boost::json::object> object_of(const std::string& text, ReplyStream& stream);
// True when the reader found nothing wrong: then the head of the answer will list the fields that
// nobody knows (protocol::kUnknownFieldsHeader). Else it has been answered.
bool check(const protocol::Fields& fields, ReplyStream& stream);

}  // namespace body

// `read` is one of the read_* functions of ipc/protocol. Nothing when it has been answered.
template <typename Read>
auto read_body(const Request& request, ReplyStream& stream, Read read)
    -> std::optional<decltype(read(std::declval<protocol::Fields&>()))> {
    const auto object = body::object_of(request.body, stream);
    if (!object) return std::nullopt;
    protocol::Fields fields(*object);
    auto value = read(fields);
    if (!body::check(fields, stream)) return std::nullopt;
    return value;
}

}  // namespace hearth::api
