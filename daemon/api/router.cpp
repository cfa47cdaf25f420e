#include "daemon/api/router.h"

#include <array>

#include "daemon/api/failure_reply.h"
#include "daemon/api/query.h"
#include "daemon/api/routes.h"
#include "engine/base/utf8.h"
#include "ipc/protocol/version.h"

namespace hearth::api {
namespace {

using enum access::Permission;

constexpr std::size_t kNone = 0;
constexpr std::size_t kSmall = 64UL << 10U;
constexpr std::size_t kPrompt = protocol::kMaxBodyBytes;

constexpr std::array kRoutes = std::to_array<Route>({
    {"POST", "/v1/chat/completions", token, kPrompt, chat},
    {"POST", "/v1/completions", token, kPrompt, complete},
    {"GET", "/v1/models", token, kNone, list_for_openai},
    {"GET", "/v1/models/{id}", token, kNone, show_for_openai},
    {"GET", "/hearth/v1/status", token, kNone, status},
    {"GET", "/hearth/v1/openapi.json", token, kNone, openapi},
    {"GET", "/hearth/v1/models", token, kNone, list_models},
    {"POST", "/hearth/v1/models/import", owner, kSmall, import_model},
    {"GET", "/hearth/v1/models/{id}", token, kNone, show_model},
    {"DELETE", "/hearth/v1/models/{id}", token, kNone, delete_model},
    {"POST", "/hearth/v1/models/{id}/load", token, kSmall, load_model},
    {"POST", "/hearth/v1/models/{id}/unload", token, kSmall, unload_model},
    {"POST", "/hearth/v1/models/{id}/default", token, kSmall, choose_default},
    {"POST", "/hearth/v1/tokenize", token, kPrompt, tokenize},
    {"POST", "/hearth/v1/detokenize", token, kPrompt, detokenize},
    {"POST", "/hearth/v1/render", token, kPrompt, render},
    {"GET", "/hearth/v1/events", token, kNone, events},
    {"GET", "/hearth/v1/metrics/history", token, kNone, metrics_history},
    {"GET", "/metrics", token, kNone, prometheus_metrics},
    {"POST", "/hearth/v1/shutdown", owner, kSmall, shut_down},
    {"GET", "/hearth/v1/token", owner, kNone, show_token},
    {"POST", "/hearth/v1/token/rotate", owner, kSmall, rotate_token},
    {"DELETE", "/hearth/v1/token", owner, kNone, revoke_token},
    {"GET", "/health", open, kNone, health},
});

std::string_view take_segment(std::string_view& path) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    return segment;
}

std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
    std::vector<std::string> arguments;
    while (!pattern.empty() && !path.empty()) {
        const std::string_view wanted = take_segment(pattern);
        const std::string_view given = take_segment(path);
        if (wanted.starts_with('{') && !given.empty())
            arguments.push_back(percent_decoded(given));
        else if (wanted != given)
            return std::nullopt;
    }
    if (!pattern.empty() || !path.empty()) return std::nullopt;
    return arguments;
}

bool is_json(std::string_view content_type) {
    constexpr std::string_view kJson = "application/json";
    if (content_type.size() < kJson.size()) return false;
    for (std::size_t i = 0; i < kJson.size(); ++i) {
        const char c = content_type[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kJson[i]) return false;
    }
    const std::string_view rest = content_type.substr(kJson.size());
    return rest.empty() || rest.front() == ';' || rest.front() == ' ';
}

std::optional<Reply> refuse_content(const RequestHead& head) {
    if (!head.content_encoding.empty() && head.content_encoding != "identity")
        return refusal(415, "unsupported_media_type", "compressed bodies are not accepted");
    // Browsers may send other types across origins without asking; JSON they may not.
    if (head.method == "POST" && !head.content_type.empty() && !is_json(head.content_type))
        return refusal(415, "unsupported_media_type", "the content type must be application/json");
    return std::nullopt;
}

Reply refuse_over_tcp(const Route& route) {
    return refusal(403, "forbidden",
                   std::string(route.method) + " " + std::string(route.pattern) +
                       " is answered over the Unix socket only; `hearth status` shows its path");
}

}  // namespace

std::span<const Route> Router::routes() { return kRoutes; }

std::variant<Match, Reply> Router::find(const RequestHead& head) {
    const std::size_t mark = head.target.find('?');
    const std::string path = head.target.substr(0, mark);
    std::string allowed;
    for (const Route& route : kRoutes) {
        auto arguments = path.starts_with('/') ? match(route.pattern, path) : std::nullopt;
        if (!arguments) continue;
        if (route.method == head.method) {
            if (route.permission == owner && head.over_tcp) return refuse_over_tcp(route);
            if (auto refused = refuse_content(head)) return *std::move(refused);
            std::string query = mark == std::string::npos ? "" : head.target.substr(mark + 1);
            return Match{&route, *std::move(arguments), std::move(query), head.last_event_id};
        }
        allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    }
    if (allowed.empty())
        return refusal(404, "route_not_found",
                       "there is no route " + repair_utf8(path.substr(0, 200)));
    Reply reply = refusal(405, "method_not_allowed",
                          "this path takes " + allowed + ", not " + head.method.substr(0, 20));
    reply.headers.emplace_back("Allow", allowed);
    return reply;
}

access::Permission Router::permission(const RequestHead& head) const {
    const std::string path = head.target.substr(0, head.target.find('?'));
    if (path.starts_with('/'))
        for (const Route& route : kRoutes)
            if (route.method == head.method && match(route.pattern, path)) return route.permission;
    return token;
}

std::unique_ptr<Activity> Router::handle(const Match& match, std::string body,
                                         ReplyStream& stream) const {
    Request request{match.arguments, std::move(body), match.query, match.last_event_id, match.peer};
    return match.route->handler(services_, request, stream);
}

void Router::answered(const Answered& record) const { services_.telemetry.on_answered(record); }

}  // namespace hearth::api
