// The table of routes: method, path, who may use it, body limit, handler. What the table refuses is
// refused before the body is read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/access/permission.h"
#include "daemon/api/reply.h"
#include "daemon/api/services.h"

namespace hearth::api {

struct Request {
    std::vector<std::string> arguments;  // the {…} parts of the path, decoded
    std::string body;
    std::string query;  // what follows the '?', as sent
    std::string last_event_id;
    std::string peer = {};  // see Match
};

// Answers through the stream, at once or later; then what it returns keeps the work alive.
using Handler = std::unique_ptr<Activity> (*)(Services&, const Request&, ReplyStream&);

struct Route {
    std::string_view method;
    std::string_view pattern;  // "/hearth/v1/models/{id}/load"
    access::Permission permission;
    std::size_t body_limit;
    Handler handler;
};

struct Match {
    const Route* route;
    std::vector<std::string> arguments;
    std::string query;
    std::string last_event_id;
    std::string peer = {};  // equal for all requests of one program, as far as the kernel tells
};

// What `net` serves.
class Routes {
public:
    virtual ~Routes() = default;

    // Asked first; `token` for what has no route.
    virtual access::Permission permission(const RequestHead& head) const = 0;
    // The route of a request, or the refusal.
    virtual std::variant<Match, Reply> route(const RequestHead& head) const = 0;
    virtual std::unique_ptr<Activity> handle(const Match& match, std::string body,
                                             ReplyStream& stream) const = 0;
    // Every request is reported once, when its answer is complete or its client gone.
    virtual void answered(const Answered& record) const = 0;
};

class Router final : public Routes {
public:
    explicit Router(Services& services) : services_(services) {}

    static std::span<const Route> routes();

    // The route of a request, or the refusal: 403 for an owner's route over TCP, 404, 405 with
    // Allow, 415.
    static std::variant<Match, Reply> find(const RequestHead& head);

    access::Permission permission(const RequestHead& head) const override;
    std::variant<Match, Reply> route(const RequestHead& head) const override { return find(head); }
    std::unique_ptr<Activity> handle(const Match& match, std::string body,
                                     ReplyStream& stream) const override;
    void answered(const Answered& record) const override;

private:
    Services& services_;
};

}  // namespace hearth::api
