// The doors in this process, with limits as short as a test wants them, before routes whose
// behaviour is the test's: the daemon's own limits are minutes.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/net/listener.h"
#include "tests/security/raw_socket.h"
#include "tests/support/paths.h"

namespace hearth::testing {

// GET /health: "ok". POST /echo: the body, at most 1 MiB. GET /endless: events without end, as fast
// as they are taken. GET /silent: no answer.
class FakeRoutes final : public api::Routes {
public:
    access::Permission permission(const api::RequestHead& head) const override;
    std::variant<api::Match, api::Reply> route(const api::RequestHead& head) const override;
    std::unique_ptr<api::Activity> handle(const api::Match& match, std::string body,
                                          api::ReplyStream& stream) const override;
    void answered(const api::Answered&) const override {}

    // Read from the test's thread.
    mutable std::atomic<int> running = 0;  // activities
    mutable std::atomic<int> handled = 0;  // requests that reached a handler
    mutable std::atomic<std::size_t> most_queued = 0;
};

class Served {
public:
    explicit Served(net::ListenerConfig config = {});
    ~Served();
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    static constexpr const char* kToken = "hearth-0123456789abcdef0123456789abcdef";
    static std::string authorization() { return "Authorization: Bearer " + std::string(kToken); }

    RawSocket over_tcp() const { return RawSocket::to_port(port_); }
    RawSocket over_unix() const { return RawSocket::to_path(path_); }
    std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n"; }
    // The head of a request that the guard lets in, without the empty line.
    std::string head(const std::string& method, const std::string& target) const;
    RawReply get(const std::string& target) const;  // over TCP, by a connection of its own
    int port() const { return port_; }
    const FakeRoutes& routes() const { return routes_; }
    std::size_t connections();
    // Runs on the network's thread.
    void on_thread(const std::function<void()>& work);
    access::Keyring& keyring() { return keyring_; }
    net::Listener& listener() { return *listener_; }

private:
    TempDir folder_;
    std::string path_ = folder_.file("run/hearth.sock");
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    FakeRoutes routes_;
    access::Keyring keyring_;
    std::unique_ptr<net::Listener> listener_;
    int port_ = 0;
    std::thread thread_;
};

}  // namespace hearth::testing
