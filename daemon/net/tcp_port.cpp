#include "daemon/net/tcp_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hearth::net {
namespace {

Error system_error(const std::string& what, int number) {
    return {ErrorCode::io_failed, what + ": " + std::strerror(number)};
}

bool bind_loopback(int descriptor, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return ::bind(descriptor, generic, sizeof address) == 0;
}

}  // namespace

Result<TcpPort> TcpPort::listen(int port) {
    TcpPort made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (made.descriptor_ < 0) return system_error("no TCP socket could be made", errno);
    const int yes = 1;  // connections of a daemon before us may still linger
    ::setsockopt(made.descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind_loopback(made.descriptor_, port) || ::listen(made.descriptor_, SOMAXCONN) != 0) {
        const int number = errno;
        const std::string address = "127.0.0.1:" + std::to_string(port);
        if (number == EADDRINUSE)
            return Error{ErrorCode::io_failed,
                         "another program uses " + address +
                             "; end it, or choose another number with the setting 'port'"};
        return system_error(address + " cannot be listened on", number);
    }
    HEARTH_TRY_VOID(made.read_address());
    return made;
}

Result<TcpPort> TcpPort::adopt(int descriptor) {
    TcpPort made(descriptor);
    HEARTH_TRY_VOID(made.read_address());
    return made;
}

Result<void> TcpPort::read_address() {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    // reinterpret_cast is how the socket interface gives addresses.
    if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return system_error("the TCP socket has no address", errno);
    std::array<char, INET6_ADDRSTRLEN> text{};
    std::string host;
    std::uint16_t port = 0;
    if (address.ss_family == AF_INET) {
        sockaddr_in ipv4{};
        std::memcpy(&ipv4, &address, sizeof ipv4);
        host = ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
        port = ntohs(ipv4.sin_port);
    } else if (address.ss_family == AF_INET6) {
        sockaddr_in6 ipv6{};
        std::memcpy(&ipv6, &address, sizeof ipv6);
        host = "[";
        host += ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
        host += "]";
        port = ntohs(ipv6.sin6_port);
    }
    const std::string number = ":" + std::to_string(port);
    if (host != "127.0.0.1" && host != "[::1]")
        return Error{ErrorCode::forbidden, "the socket that was passed on listens at " + host +
                                               number + ", and only 127.0.0.1 and ::1 are served"};
    hosts_ = {host + number, "localhost" + number};
    return {};
}

TcpPort::TcpPort(TcpPort&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), hosts_(std::move(other.hosts_)) {}

TcpPort::~TcpPort() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

int TcpPort::take_descriptor() { return std::exchange(descriptor_, -1); }

}  // namespace hearth::net
