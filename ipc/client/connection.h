// One request and its reply over a Unix socket, blocking. Every wait also watches `abort_fd`: when
// that becomes readable, the call ends with ErrorCode::cancelled and the connection is closed,
// which tells the daemon to stop working for it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace hearth::client {

struct HttpRequest {
    std::string method = "GET";
    std::string target = "/";
    std::string body = {};
    std::string content_type = "application/json";  // sent with a body only
    std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpReply {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;

    std::string header(std::string_view lower_case_name) const;  // empty when absent
};

class Connection {
public:
    // Fails with io_failed when nobody listens at `path`.
    static Result<Connection> open(const std::string& path, int abort_fd);

    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&& other) noexcept;
    ~Connection();

    // `on_body` gets the head of the reply and each piece of the body as it arrives; false stops
    // reading (no error). Without one the body is collected.
    using OnBody = std::function<bool(const HttpReply& head, std::string_view piece)>;
    Result<HttpReply> exchange(const HttpRequest& request, const OnBody& on_body = {});

    // For tests of broken clients.
    Result<void> write_all(std::string_view bytes);
    int descriptor() const { return descriptor_; }

private:
    Connection(int descriptor, int abort_fd) : descriptor_(descriptor), abort_fd_(abort_fd) {}
    Result<void> wait(short events) const;
    Result<std::size_t> read_some(char* into, std::size_t size) const;

    int descriptor_ = -1;
    int abort_fd_ = -1;  // the caller's; -1: none
};

}  // namespace hearth::client
