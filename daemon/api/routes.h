// The handlers behind the table in router.cpp.
#pragma once

#include "daemon/api/router.h"

namespace hearth::api {

using ActivityPtr = std::unique_ptr<Activity>;

// chat_routes
ActivityPtr chat(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr complete(Services& services, const Request& request, ReplyStream& stream);

// library_routes
ActivityPtr list_for_openai(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr show_for_openai(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr list_models(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr show_model(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr import_model(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr delete_model(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr choose_default(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr load_model(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr unload_model(Services& services, const Request& request, ReplyStream& stream);

// token_routes
ActivityPtr tokenize(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr detokenize(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr render(Services& services, const Request& request, ReplyStream& stream);

// events_routes
ActivityPtr events(Services& services, const Request& request, ReplyStream& stream);

// metrics_routes
ActivityPtr metrics_history(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr prometheus_metrics(Services& services, const Request& request, ReplyStream& stream);

// openapi_route
ActivityPtr openapi(Services& services, const Request& request, ReplyStream& stream);

// status_routes
ActivityPtr health(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr status(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr shut_down(Services& services, const Request& request, ReplyStream& stream);

// access_routes
ActivityPtr show_token(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr rotate_token(Services& services, const Request& request, ReplyStream& stream);
ActivityPtr revoke_token(Services& services, const Request& request, ReplyStream& stream);

}  // namespace hearth::api
