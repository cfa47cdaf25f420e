// resources/openapi.json as it is; a test holds it to the table of routes.
#include <string_view>

#include "daemon/api/routes.h"

namespace hearth::resources {
extern const std::string_view kOpenApi;  // made by resources/embed.cmake
}

namespace hearth::api {

ActivityPtr openapi(Services&, const Request&, ReplyStream& stream) {
    stream.send({.body = std::string(resources::kOpenApi)});
    return nullptr;
}

}  // namespace hearth::api
