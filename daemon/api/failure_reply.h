// Failure → status and body: the only place that knows HTTP's numbers for our codes.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "daemon/api/reply.h"
#include "ipc/protocol/failure.h"

namespace hearth::api {

int http_status(ErrorCode code);

Reply failure_reply(const protocol::Failure& failure);
Reply failure_reply(const Error& error);
// The body alone, for the last event of a stream that failed.
std::string failure_body(const Error& error);

// Refusals that only HTTP knows: 404 for a path, 405, 411, 415, 431, ….
Reply refusal(int status, const std::string& code, const std::string& message);

Reply json_reply(const boost::json::object& body);

}  // namespace hearth::api
