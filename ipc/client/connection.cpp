#include "ipc/client/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <cstring>
#include <limits>

namespace hearth::client {
namespace {

namespace http = boost::beast::http;
using Parser = http::response_parser<http::string_body>;

Error socket_error(const std::string& what, int number) {
    return {ErrorCode::io_failed, what + ": " + std::strerror(number)};
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::string request_bytes(const HttpRequest& request) {
    std::string bytes = request.method + " " + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : request.headers) bytes += name + ": " + value + "\r\n";
    if (!request.body.empty()) bytes += "Content-Type: " + request.content_type + "\r\n";
    if (!request.body.empty() || request.method == "POST")
        bytes += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    bytes += "Connection: close\r\n\r\n";
    return bytes + request.body;
}

HttpReply head_of(const Parser& parser) {
    HttpReply head;
    head.status = static_cast<int>(parser.get().result_int());
    for (const auto& field : parser.get().base()) {
        const auto name = field.name_string();
        const auto value = field.value();
        head.headers.emplace_back(lower_case({name.data(), name.size()}),
                                  std::string(value.data(), value.size()));
    }
    return head;
}

// Bytes of a reply in any cut → head, then pieces of the body.
class ReplyReader {
public:
    ReplyReader() {
        parser_.header_limit(64 * 1024);
        parser_.body_limit(std::numeric_limits<std::uint64_t>::max());
        parser_.eager(true);
    }

    Result<void> feed(std::string_view bytes) {
        pending_ += bytes;
        boost::system::error_code problem;
        while (!pending_.empty() && !parser_.is_done()) {
            const std::size_t used =
                parser_.put(boost::asio::buffer(pending_.data(), pending_.size()), problem);
            pending_.erase(0, used);
            if (problem == http::error::need_more) break;
            if (problem)
                return Error{ErrorCode::io_failed,
                             "the daemon's reply is not HTTP: " + problem.message()};
            if (used == 0) break;
        }
        return {};
    }
    Result<void> end_of_stream() {
        // The parser must not be asked before it has seen a byte.
        boost::system::error_code problem = http::error::end_of_stream;
        if (parser_.got_some()) parser_.put_eof(problem);
        if (problem)
            return Error{ErrorCode::io_failed, "the daemon closed the connection in mid-reply"};
        return {};
    }
    bool has_head() const { return parser_.is_header_done(); }
    bool done() const { return parser_.is_done(); }
    HttpReply head() const { return head_of(parser_); }
    std::string take_body() { return std::exchange(parser_.get().body(), {}); }

private:
    Parser parser_;
    std::string pending_;
};

}  // namespace

std::string HttpReply::header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers)
        if (name == lower_case_name) return value;
    return {};
}

Result<Connection> Connection::open(const std::string& path, int abort_fd) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return Error{ErrorCode::bad_input, "the socket path is too long: " + path};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return socket_error("no socket could be made", errno);
    Connection connection(descriptor, abort_fd);
    // A Unix socket connects at once or fails; EAGAIN means that the listener's queue is full.
    // NOLINTNEXTLINE: reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    for (int attempt = 0; ::connect(descriptor, generic, sizeof address) != 0; ++attempt) {
        if (errno != EAGAIN || attempt == 200)
            return socket_error("no Hearth daemon answers at " + path, errno);
        ::poll(nullptr, 0, 5);
    }
    return connection;
}

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), abort_fd_(other.abort_fd_) {}

Connection& Connection::operator=(Connection&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(abort_fd_, other.abort_fd_);
    return *this;
}

Connection::~Connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Connection::wait(short events) const {
    std::array<pollfd, 2> watched = {{{descriptor_, events, 0}, {abort_fd_, POLLIN, 0}}};
    while (::poll(watched.data(), abort_fd_ >= 0 ? 2 : 1, -1) < 0)
        if (errno != EINTR) return socket_error("waiting for the daemon failed", errno);
    if (abort_fd_ >= 0 && watched[1].revents != 0)
        return Error{ErrorCode::cancelled, "stopped by the user"};
    return {};
}

Result<void> Connection::write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EINTR) {
            HEARTH_TRY_VOID(wait(POLLOUT));
        } else {
            return socket_error("the daemon did not take the whole request", errno);
        }
    }
    return {};
}

Result<std::size_t> Connection::read_some(char* into, std::size_t size) const {
    for (;;) {
        HEARTH_TRY_VOID(wait(POLLIN));
        const ssize_t got = ::recv(descriptor_, into, size, 0);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EAGAIN && errno != EINTR)
            return socket_error("reading the daemon's reply failed", errno);
    }
}

Result<HttpReply> Connection::exchange(const HttpRequest& request, const OnBody& on_body) {
    // A daemon that refuses early (413) answers without reading the rest: its reply counts.
    const auto written = write_all(request_bytes(request));
    if (!written && written.error().code == ErrorCode::cancelled) return written.error();
    ReplyReader reader;
    std::array<char, 16384> buffer;
    HttpReply reply;
    while (!reader.done()) {
        auto got = read_some(buffer.data(), buffer.size());
        if (!got) return written ? std::move(got).error() : written.error();
        if (*got == 0)
            HEARTH_TRY_VOID(reader.end_of_stream());
        else
            HEARTH_TRY_VOID(reader.feed({buffer.data(), *got}));
        if (!reader.has_head()) continue;
        if (reply.status == 0) reply = reader.head();
        std::string piece = reader.take_body();
        if (!on_body)
            reply.body += piece;
        else if (!piece.empty() && !on_body(reply, piece))
            return reply;
    }
    return reply;
}

}  // namespace hearth::client
