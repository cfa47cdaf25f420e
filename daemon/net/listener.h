// Accepts connections on the Unix socket: same user only, and not more than a limit at a time.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <unordered_map>

#include "daemon/api/router.h"
#include "daemon/net/http_session.h"
#include "daemon/net/socket_file.h"

namespace hearth::net {

struct ListenerConfig {
    std::size_t max_connections = 1000;  // more are closed at once
    SessionLimits limits;
};

class Listener {
public:
    Listener(boost::asio::io_context& io, SocketFile file, const api::Router& router,
             ListenerConfig config = {});
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void start();
    // Accepts no more; connections end when their answer in progress has left.
    void stop();
    // Ends what is still open.
    void close_all();
    std::size_t connections() const { return sessions_.size(); }

private:
    void accept();
    void admit(HttpSession::Socket socket);
    void rest();

    SocketFile file_;
    const api::Router& router_;
    const ListenerConfig config_;
    boost::asio::local::stream_protocol::acceptor acceptor_;
    boost::asio::steady_timer rest_timer_;
    // shared: see HttpSession.
    std::unordered_map<HttpSession*, std::shared_ptr<HttpSession>> sessions_;
    // Sessions outlive us when an operation holds them: they must then not call back.
    // shared: one owner; sessions watch it.
    std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace hearth::net
