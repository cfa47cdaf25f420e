// The daemon as blocking calls. One connection per call; a Client may be used from several threads.
// An error that the daemon reported keeps its code and message; io_failed means that no daemon
// answered (see daemon_process.h).
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "ipc/client/connection.h"
#include "ipc/client/event_splitter.h"
#include "ipc/protocol/chat.h"
#include "ipc/protocol/library.h"
#include "ipc/protocol/paths.h"
#include "ipc/protocol/status.h"
#include "ipc/protocol/tokens.h"

namespace hearth::client {

namespace json = boost::json;

class Client {
public:
    explicit Client(std::string socket_path = protocol::user_paths().socket)
        : socket_path_(std::move(socket_path)) {}

    const std::string& socket_path() const { return socket_path_; }

    // While `descriptor` (an eventfd or the reading end of a pipe) is readable, every call ends
    // with ErrorCode::cancelled. A signal handler can write to it. -1: none.
    void set_abort_descriptor(int descriptor) { abort_fd_ = descriptor; }

    // One exchange as it is, whatever its status.
    Result<HttpReply> send(const HttpRequest& request) const;

    // JSON in, JSON out; a status of 400 or more becomes the Error in the body.
    Result<json::value> get(const std::string& target) const;
    Result<json::value> post(const std::string& target, const json::object& body) const;
    Result<json::value> remove(const std::string& target) const;

    // Server-sent events, each as JSON, until the daemon says that it is done or `on_event` returns
    // false. A failure in mid-stream is returned.
    using OnEvent = std::function<bool(const json::value&)>;
    Result<void> stream(const std::string& target, const json::object& body,
                        const OnEvent& on_event) const;

    // The same with names and ids, of a stream that ends when the daemon does.
    using OnServerEvent = std::function<bool(const ServerEvent&, const json::value& data)>;
    Result<void> events(const std::string& target, const OnServerEvent& on_event) const;

    // Typed calls.
    Result<protocol::Status> status() const;
    Result<std::vector<protocol::ModelEntry>> models() const;
    Result<protocol::ModelEntry> model(const std::string& id) const;
    Result<protocol::ImportReply> import_model(const protocol::ImportRequest& request) const;
    Result<void> remove_model(const std::string& id) const;
    Result<protocol::LoadedModel> load(const std::string& id,
                                       const protocol::LoadRequest& request = {}) const;
    Result<void> unload(const std::string& id) const;
    Result<protocol::TokenizeReply> tokenize(const protocol::TokenizeRequest& request) const;
    Result<protocol::DetokenizeReply> detokenize(const protocol::DetokenizeRequest& request) const;
    // The prompt of a chat, as the model would read it.
    Result<protocol::RenderReply> render(const protocol::ChatRequest& request) const;
    Result<void> shutdown() const;  // the daemon has agreed; it ends within 5 s
    bool answers() const;           // GET /health

    using OnReply = std::function<bool(const protocol::Reply&)>;  // false stops the generation
    Result<protocol::Reply> chat(const protocol::ChatRequest& request) const;
    Result<void> chat(protocol::ChatRequest request, const OnReply& on_chunk) const;
    Result<protocol::Reply> complete(const protocol::CompletionRequest& request) const;
    Result<void> complete(protocol::CompletionRequest request, const OnReply& on_chunk) const;

private:
    Result<json::value> call(HttpRequest request) const;
    Result<void> read_events(const HttpRequest& request, const OnServerEvent& on_event) const;
    Result<void> stream_replies(const std::string& target, const json::object& body,
                                const OnReply& on_chunk) const;

    std::string socket_path_;
    int abort_fd_ = -1;
};

}  // namespace hearth::client
