#include "daemon/net/inherited.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/base/log.h"

namespace hearth::net {
namespace {

constexpr int kFirst = 3;  // after the three standard streams
constexpr int kMost = 64;

// -1 when it is not a number.
int take_number(const char* name) {
    const char* value = std::getenv(name);
    const std::string text = value == nullptr ? "" : value;
    ::unsetenv(name);
    int number = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() ? number : -1;
}

int option_of(int descriptor, int option) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

}  // namespace

Inherited take_inherited() {
    const int pid = take_number("LISTEN_PID");
    const int count = take_number("LISTEN_FDS");
    ::unsetenv("LISTEN_FDNAMES");
    Inherited sockets;
    if (pid != ::getpid()) return sockets;
    for (int descriptor = kFirst; descriptor < kFirst + count && count <= kMost; ++descriptor) {
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        const bool listens = option_of(descriptor, SO_ACCEPTCONN) == 1 &&
                             option_of(descriptor, SO_TYPE) == SOCK_STREAM;
        const int family = option_of(descriptor, SO_DOMAIN);
        const bool is_tcp = family == AF_INET || family == AF_INET6;
        int& place = is_tcp ? sockets.tcp : sockets.unix_socket;
        if (listens && (is_tcp || family == AF_UNIX) && place < 0) {
            place = descriptor;
            continue;
        }
        log(LogLevel::warning, "descriptor " + std::to_string(descriptor) +
                                   ", which was passed on, is not a socket that we can use");
        ::close(descriptor);
    }
    return sockets;
}

}  // namespace hearth::net
