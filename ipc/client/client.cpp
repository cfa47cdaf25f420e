#include "ipc/client/client.h"

#include <boost/json/serialize.hpp>
#include <optional>

#include "ipc/protocol/failure.h"

namespace hearth::client {
namespace {

using protocol::Fields;

Error error_of(const HttpReply& reply) {
    auto body = protocol::parse_json(reply.body);
    if (body) return protocol::failure_from_json(*body).error;
    return {ErrorCode::internal, "the daemon answered with status " + std::to_string(reply.status) +
                                     " and a body that is not JSON"};
}

// Reads a struct out of a reply with one of the read_* functions of ipc/protocol.
template <typename Read>
auto read_struct(const Result<json::value>& reply, Read read)
    -> Result<decltype(read(std::declval<Fields&>()))> {
    if (!reply) return reply.error();
    const json::object* object = reply->if_object();
    if (object == nullptr)
        return Error{ErrorCode::internal, "the daemon's reply is not a JSON object"};
    Fields fields(*object);
    auto value = read(fields);
    if (fields.failure())
        return Error{ErrorCode::internal,
                     "the daemon's reply is not understood: " + fields.failure()->error.message};
    return value;
}

Result<void> without_value(Result<json::value> reply) {
    if (!reply) return std::move(reply).error();
    return {};
}

std::string escaped(std::string_view id) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string text;
    for (const char c : id) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        const auto byte = static_cast<unsigned char>(c);
        text += plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
    return text;
}

std::string model_target(const std::string& id, std::string_view action = {}) {
    return "/hearth/v1/models/" + escaped(id) + std::string(action);
}

// Turns the events of one stream into calls; remembers how it ended.
class EventReader {
public:
    explicit EventReader(const Client::OnServerEvent& on_event) : on_event_(on_event) {}

    bool take(std::string_view piece) {
        for (const ServerEvent& event : splitter_.feed(piece))
            if (!take_event(event)) return false;
        return true;
    }
    // `is_open_ended`: a stream without a last event, whose end is no error.
    Result<void> ending(bool is_open_ended) const {
        if (error_) return *error_;
        if (!ended_ && !is_open_ended)
            return Error{ErrorCode::io_failed, "the daemon closed the stream before its end"};
        return {};
    }

private:
    bool take_event(const ServerEvent& event) {
        if (event.data == "[DONE]") return !(ended_ = true);
        auto data = protocol::parse_json(event.data);
        if (!data) {
            error_ = Error{ErrorCode::internal, "an event of the daemon's stream is not JSON"};
        } else if (event.name.empty() && data->is_object() &&
                   data->get_object().contains("error")) {
            error_ = protocol::failure_from_json(*data).error;
        } else if (!on_event_(event, *data)) {
            ended_ = true;
        }
        return !ended_ && !error_;
    }

    const Client::OnServerEvent& on_event_;
    EventSplitter splitter_;
    std::optional<Error> error_;
    bool ended_ = false;
};

}  // namespace

Result<HttpReply> Client::send(const HttpRequest& request) const {
    HEARTH_TRY(Connection connection, Connection::open(socket_path_, abort_fd_));
    return connection.exchange(request);
}

Result<json::value> Client::call(HttpRequest request) const {
    HEARTH_TRY(const HttpReply reply, send(request));
    if (reply.status >= 400) return error_of(reply);
    return protocol::parse_json(reply.body);
}

Result<json::value> Client::get(const std::string& target) const {
    return call({.method = "GET", .target = target});
}

Result<json::value> Client::post(const std::string& target, const json::object& body) const {
    return call({.method = "POST", .target = target, .body = json::serialize(body)});
}

Result<json::value> Client::remove(const std::string& target) const {
    return call({.method = "DELETE", .target = target});
}

Result<void> Client::stream(const std::string& target, const json::object& body,
                            const OnEvent& on_event) const {
    return read_events({.method = "POST", .target = target, .body = json::serialize(body)},
                       [&](const ServerEvent&, const json::value& data) { return on_event(data); });
}

Result<void> Client::events(const std::string& target, const OnServerEvent& on_event) const {
    return read_events({.method = "GET", .target = target}, on_event);
}

Result<void> Client::read_events(const HttpRequest& request, const OnServerEvent& on_event) const {
    HEARTH_TRY(Connection connection, Connection::open(socket_path_, abort_fd_));
    EventReader reader(on_event);
    std::string failed_body;
    const auto on_body = [&](const HttpReply& head, std::string_view piece) {
        if (head.status < 400) return reader.take(piece);
        failed_body += piece;
        return true;
    };
    HEARTH_TRY(HttpReply reply, connection.exchange(request, on_body));
    if (reply.status < 400) return reader.ending(request.method == "GET");
    reply.body = std::move(failed_body);
    return error_of(reply);
}

Result<protocol::Status> Client::status() const {
    return read_struct(get("/hearth/v1/status"), protocol::read_status);
}

Result<std::vector<protocol::ModelEntry>> Client::models() const {
    return read_struct(get("/hearth/v1/models"), protocol::read_model_list);
}

Result<protocol::ModelEntry> Client::model(const std::string& id) const {
    return read_struct(get(model_target(id)), protocol::read_model_entry);
}

Result<protocol::ImportReply> Client::import_model(const protocol::ImportRequest& request) const {
    return read_struct(post("/hearth/v1/models/import", to_json(request)),
                       protocol::read_import_reply);
}

Result<void> Client::remove_model(const std::string& id) const {
    return without_value(remove(model_target(id)));
}

Result<protocol::LoadedModel> Client::load(const std::string& id,
                                           const protocol::LoadRequest& request) const {
    return read_struct(post(model_target(id, "/load"), to_json(request)),
                       protocol::read_loaded_model);
}

Result<void> Client::unload(const std::string& id) const {
    return without_value(post(model_target(id, "/unload"), {}));
}

Result<protocol::TokenizeReply> Client::tokenize(const protocol::TokenizeRequest& request) const {
    return read_struct(post("/hearth/v1/tokenize", to_json(request)),
                       protocol::read_tokenize_reply);
}

Result<protocol::DetokenizeReply> Client::detokenize(
    const protocol::DetokenizeRequest& request) const {
    return read_struct(post("/hearth/v1/detokenize", to_json(request)),
                       protocol::read_detokenize_reply);
}

Result<protocol::RenderReply> Client::render(const protocol::ChatRequest& request) const {
    return read_struct(post("/hearth/v1/render", to_json(request)), protocol::read_render_reply);
}

Result<void> Client::shutdown() const { return without_value(post("/hearth/v1/shutdown", {})); }

bool Client::answers() const {
    const auto reply = send({.method = "GET", .target = "/health"});
    return reply && reply->status == 200;
}

Result<protocol::Reply> Client::chat(const protocol::ChatRequest& request) const {
    return read_struct(post("/v1/chat/completions", to_json(request)), protocol::read_reply);
}

Result<protocol::Reply> Client::complete(const protocol::CompletionRequest& request) const {
    return read_struct(post("/v1/completions", to_json(request)), protocol::read_reply);
}

Result<void> Client::chat(protocol::ChatRequest request, const OnReply& on_chunk) const {
    request.options.stream = true;
    return stream_replies("/v1/chat/completions", to_json(request), on_chunk);
}

Result<void> Client::complete(protocol::CompletionRequest request, const OnReply& on_chunk) const {
    request.options.stream = true;
    return stream_replies("/v1/completions", to_json(request), on_chunk);
}

Result<void> Client::stream_replies(const std::string& target, const json::object& body,
                                    const OnReply& on_chunk) const {
    std::optional<Error> misunderstood;
    const auto on_event = [&](const json::value& event) {
        const auto reply = read_struct(event, protocol::read_reply);
        if (reply) return on_chunk(*reply);
        misunderstood = reply.error();
        return false;
    };
    const auto ended = stream(target, body, on_event);
    if (misunderstood) return *misunderstood;
    return ended;
}

}  // namespace hearth::client
