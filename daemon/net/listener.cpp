#include "daemon/net/listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <vector>

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

Listener::Listener(boost::asio::io_context& io, SocketFile file, const api::Router& router,
                   ListenerConfig config)
    : file_(std::move(file)),
      router_(router),
      config_(config),
      acceptor_(io, boost::asio::local::stream_protocol(), file_.take_descriptor()),
      rest_timer_(io) {}

Listener::~Listener() { close_all(); }

void Listener::start() { accept(); }

void Listener::accept() {
    acceptor_.async_accept(
        [this, alive = std::weak_ptr<char>(alive_)](const boost::system::error_code& problem,
                                                    HttpSession::Socket socket) {
            if (alive.expired() || problem == boost::asio::error::operation_aborted) return;
            if (problem) return rest();
            admit(std::move(socket));
            accept();
        });
}

void Listener::rest() {
    rest_timer_.expires_after(kRest);
    rest_timer_.async_wait(
        [this, alive = std::weak_ptr<char>(alive_)](const boost::system::error_code& problem) {
            if (!alive.expired() && !problem && acceptor_.is_open()) accept();
        });
}

void Listener::admit(HttpSession::Socket socket) {
    if (!same_user(socket.native_handle())) {
        log(LogLevel::warning, "a connection of another user was refused");
        return;
    }
    if (sessions_.size() >= config_.max_connections) return;
    const auto on_closed = [this, alive = std::weak_ptr<char>(alive_)](HttpSession* session) {
        if (!alive.expired()) sessions_.erase(session);
    };
    // shared: see HttpSession.
    auto session =
        std::make_shared<HttpSession>(std::move(socket), router_, config_.limits, on_closed);
    sessions_.emplace(session.get(), session);
    session->start();
}

void Listener::stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    rest_timer_.cancel();
    std::vector<std::shared_ptr<HttpSession>> open;  // shared: see HttpSession
    for (const auto& [address, session] : sessions_) open.push_back(session);
    for (const auto& session : open) session->close_when_idle();
}

void Listener::close_all() {
    for (const auto& [address, session] : sessions_) session->close();
}

}  // namespace hearth::net
