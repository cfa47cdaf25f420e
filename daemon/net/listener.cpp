#include "daemon/net/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/api/failure_reply.h"
#include "engine/base/log.h"

namespace hearth::net {
namespace {

// Out of descriptors: trying again at once would spin.
constexpr std::chrono::milliseconds kRest{100};

bool same_user(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == ::geteuid();
}

}  // namespace

struct Listener::Entrance {
    using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

    Acceptor acceptor;
    boost::asio::steady_timer rest_timer;
    SessionContext context;
};

Listener::Listener(boost::asio::io_context& io, const api::Routes& routes,
                   const access::Keyring& keyring, ListenerConfig config)
    : io_(io), routes_(routes), keyring_(keyring), config_(std::move(config)) {}

Listener::~Listener() { close_all(); }

void Listener::open(SocketFile file) {
    file_.emplace(std::move(file));
    open(file_->take_descriptor(), AF_UNIX,
         {.over_tcp = false, .hosts = {}, .origins = config_.origins});
}

void Listener::open(TcpPort port) {
    const int family = port.address().starts_with('[') ? AF_INET6 : AF_INET;
    open(port.take_descriptor(), family,
         {.over_tcp = true, .hosts = port.hosts(), .origins = config_.origins});
}

void Listener::open(int descriptor, int family, access::Door door) {
    using boost::asio::generic::stream_protocol;
    entrances_.push_back(std::unique_ptr<Entrance>(
        new Entrance{Entrance::Acceptor(io_, stream_protocol(family, 0), descriptor),
                     boost::asio::steady_timer(io_),
                     SessionContext{routes_, keyring_, std::move(door), config_.limits}}));
    accept(*entrances_.back());
}

void Listener::accept(Entrance& entrance) {
    entrance.acceptor.async_accept(
        [this, &entrance, alive = std::weak_ptr<char>(alive_)](
            const boost::system::error_code& problem, HttpSession::Socket socket) {
            if (alive.expired() || problem == boost::asio::error::operation_aborted) return;
            if (problem) return rest(entrance);
            admit(entrance, std::move(socket));
            accept(entrance);
        });
}

void Listener::rest(Entrance& entrance) {
    entrance.rest_timer.expires_after(kRest);
    entrance.rest_timer.async_wait([this, &entrance, alive = std::weak_ptr<char>(alive_)](
                                       const boost::system::error_code& problem) {
        if (!alive.expired() && !problem && entrance.acceptor.is_open()) accept(entrance);
    });
}

bool Listener::is_full(bool over_tcp) const {
    return sessions_.size() - turned_away_ >= config_.max_connections ||
           (over_tcp && over_tcp_ >= config_.max_over_tcp);
}

void Listener::admit(Entrance& entrance, HttpSession::Socket socket) {
    const bool over_tcp = entrance.context.door.over_tcp;
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    if (over_tcp) {
        const int yes = 1;  // a token is a few bytes, and must not wait for more
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    } else if (!same_user(socket.native_handle())) {
        log(LogLevel::warning, "a connection of another user was refused");
        return;
    }
    const bool full = is_full(over_tcp);
    if (full && turned_away_ >= config_.max_turned_away) return;
    const auto on_closed = [this, alive = std::weak_ptr<char>(alive_)](HttpSession* session) {
        if (!alive.expired()) forget(session);
    };
    // shared: see HttpSession.
    auto session = std::make_shared<HttpSession>(std::move(socket), entrance.context, on_closed);
    sessions_.emplace(session.get(), Guest{session, over_tcp, full});
    if (full)
        ++turned_away_;
    else if (over_tcp)
        ++over_tcp_;
    if (!full) return session->start();
    session->turn_away(api::refusal(503, "busy", "too many connections are open; try again soon"));
}

void Listener::forget(HttpSession* session) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    if (found->second.turned_away)
        --turned_away_;
    else if (found->second.over_tcp)
        --over_tcp_;
    sessions_.erase(found);
}

void Listener::close_tcp_sessions() {
    for (const auto& [address, guest] : sessions_)
        if (guest.over_tcp) guest.session->close();
}

void Listener::stop() {
    for (const auto& entrance : entrances_) {
        boost::system::error_code ignored;
        entrance->acceptor.close(ignored);
        entrance->rest_timer.cancel();
    }
    std::vector<std::shared_ptr<HttpSession>> open;  // shared: see HttpSession
    for (const auto& [address, guest] : sessions_) open.push_back(guest.session);
    for (const auto& session : open) session->close_when_idle();
}

void Listener::close_all() {
    for (const auto& [address, guest] : sessions_) guest.session->close();
}

}  // namespace hearth::net
