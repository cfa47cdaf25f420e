// Accepts connections at the doors: on the Unix socket from the same user only, over TCP from
// anybody on this machine, whom the guard then asks for the token.
//
// Both doors share one limit, of which TCP may use a part only: strangers cannot lock the owner
// out. Who comes when it is full is told so, 503, and asked to come again.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/api/router.h"
#include "daemon/net/http_session.h"
#include "daemon/net/socket_file.h"
#include "daemon/net/tcp_port.h"

namespace hearth::net {

struct ListenerConfig {
    std::size_t max_connections = 512;
    std::size_t max_over_tcp = 384;
    std::size_t max_turned_away = 64;  // being told so; more are closed without a word
    std::vector<std::string> origins;  // of web pages that may come in
    SessionLimits limits;
};

class Listener {
public:
    Listener(boost::asio::io_context& io, const api::Routes& routes, const access::Keyring& keyring,
             ListenerConfig config = {});
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void open(SocketFile file);  // once
    void open(TcpPort port);
    // At once, whatever runs for them: the token they came in with is void.
    void close_tcp_sessions();
    // Accepts no more; connections end when their answer in progress has left.
    void stop();
    // Ends what is still open.
    void close_all();
    std::size_t connections() const { return sessions_.size(); }

private:
    struct Entrance;
    struct Guest {
        std::shared_ptr<HttpSession> session;  // shared: see HttpSession
        bool over_tcp = false;
        bool turned_away = false;
    };

    void open(int descriptor, int family, access::Door door);
    void accept(Entrance& entrance);
    void admit(Entrance& entrance, HttpSession::Socket socket);
    void rest(Entrance& entrance);
    bool is_full(bool over_tcp) const;
    void forget(HttpSession* session);

    boost::asio::io_context& io_;
    const api::Routes& routes_;
    const access::Keyring& keyring_;
    const ListenerConfig config_;
    std::optional<SocketFile> file_;
    std::vector<std::unique_ptr<Entrance>> entrances_;
    std::unordered_map<HttpSession*, Guest> sessions_;
    std::size_t over_tcp_ = 0;  // of sessions_, and not turned away
    std::size_t turned_away_ = 0;
    // Sessions outlive us when an operation holds them: they must then not call back.
    // shared: one owner; sessions watch it.
    std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace hearth::net
