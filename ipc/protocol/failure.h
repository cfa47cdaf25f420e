// An error as it travels: {"error": {"code", "message", "type", "param"}}.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace hearth::protocol {

namespace json = boost::json;

struct Failure {
    Error error;
    std::string param;  // the field of the request that is to blame, "messages[1].role"; or empty
};

// `type` is the word of OpenAI's API for the kind of trouble, "invalid_request_error".
json::object to_json(const Failure& failure, std::string_view type);

// What a peer sent; anything that is not such an object gives ErrorCode::internal.
Failure failure_from_json(const json::value& body);

}  // namespace hearth::protocol
