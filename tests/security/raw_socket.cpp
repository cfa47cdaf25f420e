#include "tests/security/raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace hearth::testing {
namespace {

constexpr int kPatience = 10'000;  // ms

}  // namespace

std::string RawReply::header(std::string_view name) const {
    const std::size_t at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) return {};
    const std::size_t from = at + 4 + name.size();
    return head.substr(from, head.find("\r\n", from) - from);
}

std::string RawReply::code() const {
    constexpr std::string_view kKey = R"("code":")";
    const std::size_t at = body.find(kKey);
    if (at == std::string::npos) return {};
    return body.substr(at + kKey.size(), body.find('"', at + kKey.size()) - at - kKey.size());
}

RawSocket RawSocket::to_port(int port) {
    RawSocket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(made.descriptor_, generic, sizeof address) != 0) made.close();
    return made;
}

RawSocket RawSocket::to_path(const std::string& path) {
    RawSocket made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    // reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(made.descriptor_, generic, sizeof address) != 0) made.close();
    return made;
}

RawSocket::RawSocket(RawSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), input_(std::move(other.input_)) {}

RawSocket& RawSocket::operator=(RawSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(input_, other.input_);
    return *this;
}

RawSocket::~RawSocket() { close(); }

void RawSocket::close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void RawSocket::reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

std::size_t RawSocket::write_some(std::string_view bytes) const {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

bool RawSocket::write(std::string_view bytes) const {
    while (!bytes.empty()) {
        pollfd wait{descriptor_, POLLOUT, 0};
        if (::poll(&wait, 1, kPatience) <= 0 || (wait.revents & (POLLERR | POLLHUP)) != 0)
            return false;
        const std::size_t sent = write_some(bytes);
        if (sent == 0) return false;
        bytes.remove_prefix(sent);
    }
    return true;
}

bool RawSocket::fill(int wait_ms) {
    pollfd wait{descriptor_, POLLIN, 0};
    if (::poll(&wait, 1, wait_ms) <= 0) return false;
    std::array<char, 16384> buffer;
    const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    input_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
}

RawReply RawSocket::read(bool to_head) {
    RawReply reply;
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos)
        if (!fill(kPatience)) return reply;
    reply.head = input_.substr(0, end + 2);
    input_.erase(0, end + 4);
    const std::size_t size =
        to_head ? 0 : std::strtoul(reply.header("Content-Length").c_str(), nullptr, 10);
    while (input_.size() < size)
        if (!fill(kPatience)) return reply;
    reply.body = input_.substr(0, size);
    input_.erase(0, size);
    reply.status = std::atoi(reply.head.substr(9, 3).c_str());
    return reply;
}

std::string RawSocket::read_to_end() {
    while (fill(kPatience)) {
    }
    return std::exchange(input_, {});
}

bool RawSocket::is_closed_by_peer() {
    std::array<char, 4096> buffer;
    for (;;) {
        pollfd wait{descriptor_, POLLIN, 0};
        if (::poll(&wait, 1, kPatience) <= 0) return false;
        if (::recv(descriptor_, buffer.data(), buffer.size(), 0) <= 0) return true;
    }
}

}  // namespace hearth::testing
