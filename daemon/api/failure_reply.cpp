#include "daemon/api/failure_reply.h"

#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <string_view>

namespace hearth::api {
namespace {

std::string_view type_for(int status) {
    if (status == 404) return "not_found_error";
    if (status == 401) return "authentication_error";
    if (status == 403) return "permission_error";
    if (status == 429) return "rate_limit_error";
    return status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace

int http_status(ErrorCode code) {
    switch (code) {  // no default: the compiler names the case we forget
        case ErrorCode::bad_input:
        case ErrorCode::context_exceeded:
        case ErrorCode::template_failed:
        case ErrorCode::template_too_deep:
        case ErrorCode::budget_exceeded:
        case ErrorCode::invalid_utf8:
            return 400;
        case ErrorCode::forbidden:
            return 403;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::too_large:
            return 413;
        case ErrorCode::unsupported_format:
        case ErrorCode::unsupported_version:
        case ErrorCode::unsupported_model:
        case ErrorCode::model_corrupt:
        case ErrorCode::model_invalid:
        case ErrorCode::quarantined:  // trying again does not help
            return 422;
        case ErrorCode::busy:
            return 429;
        case ErrorCode::cancelled:
            return 499;  // nobody is there to read it
        case ErrorCode::io_failed:
        case ErrorCode::storage_damaged:
        case ErrorCode::numeric_error:
        case ErrorCode::device_failed:
        case ErrorCode::internal:
            return 500;
        case ErrorCode::disk_full:
            return 507;
        case ErrorCode::no_memory:
        case ErrorCode::worker_died:
        case ErrorCode::shutting_down:
            return 503;
        case ErrorCode::timed_out:
            return 504;
    }
    std::abort();
}

Reply failure_reply(const protocol::Failure& failure) {
    const int status = http_status(failure.error.code);
    return {.status = status,
            .body = boost::json::serialize(protocol::to_json(failure, type_for(status)))};
}

Reply failure_reply(const Error& error) { return failure_reply(protocol::Failure{error, {}}); }

std::string failure_body(const Error& error) { return failure_reply(error).body; }

Reply refusal(int status, const std::string& code, const std::string& message) {
    boost::json::object error = {
        {"code", code}, {"message", message}, {"type", type_for(status)}, {"param", nullptr}};
    return {.status = status,
            .body = boost::json::serialize(boost::json::object{{"error", error}})};
}

Reply json_reply(const boost::json::object& body) {
    return {.status = 200, .body = boost::json::serialize(body)};
}

}  // namespace hearth::api
