#include "tests/security/served.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <future>

#include "daemon/api/failure_reply.h"
#include "engine/base/check.h"

namespace hearth::testing {
namespace {

using access::Permission;

constexpr std::size_t kEchoLimit = 1UL << 20U;

const std::array<api::Route, 4>& table() {
    static const std::array<api::Route, 4> routes = {{
        {"GET", "/health", Permission::open, 0, nullptr},
        {"POST", "/echo", Permission::token, kEchoLimit, nullptr},
        {"GET", "/endless", Permission::token, 0, nullptr},
        {"GET", "/silent", Permission::token, 0, nullptr},
    }};
    return routes;
}

class Counted : public api::Activity {
public:
    explicit Counted(std::atomic<int>& count) : count_(count) { ++count_; }
    ~Counted() override { --count_; }

private:
    std::atomic<int>& count_;
};

class Endless final : public Counted {
public:
    Endless(const FakeRoutes& routes, api::ReplyStream& stream)
        : Counted(routes.running), routes_(routes), stream_(stream) {
        stream_.begin_events();
        Endless::on_room();
    }
    void on_room() override {
        const std::string event(1000, 'x');
        while (stream_.queued_bytes() < api::ReplyStream::kQueueLimit) {
            stream_.send_event(event);
            routes_.most_queued = std::max(routes_.most_queued.load(), stream_.queued_bytes());
        }
    }

private:
    const FakeRoutes& routes_;
    api::ReplyStream& stream_;
};

}  // namespace

Permission FakeRoutes::permission(const api::RequestHead& head) const {
    return head.target == "/health" ? Permission::open : Permission::token;
}

std::variant<api::Match, api::Reply> FakeRoutes::route(const api::RequestHead& head) const {
    for (const api::Route& route : table())
        if (route.method == head.method && route.pattern == head.target)
            return api::Match{&route, {}, {}, {}};
    return api::refusal(404, "route_not_found", "there is no such route");
}

std::unique_ptr<api::Activity> FakeRoutes::handle(const api::Match& match, std::string body,
                                                  api::ReplyStream& stream) const {
    ++handled;
    const std::string_view pattern = match.route->pattern;
    if (pattern == "/endless") return std::make_unique<Endless>(*this, stream);
    if (pattern == "/silent") return std::make_unique<Counted>(running);
    stream.send({.status = 200,
                 .content_type = "text/plain",
                 .body = pattern == "/echo" ? std::move(body) : "ok",
                 .headers = {}});
    return nullptr;
}

Served::Served(net::ListenerConfig config) : work_(boost::asio::make_work_guard(io_)) {
    keyring_.set(kToken);
    listener_ = std::make_unique<net::Listener>(io_, routes_, keyring_, std::move(config));
    auto file = net::SocketFile::listen(path_);
    auto port = net::TcpPort::listen(0);
    HEARTH_CHECK(file && port);
    port_ = std::atoi(port->address().substr(port->address().rfind(':') + 1).c_str());
    listener_->open(*std::move(file));
    listener_->open(*std::move(port));
    thread_ = std::thread([this] { io_.run(); });
}

Served::~Served() {
    on_thread([this] {
        listener_->stop();
        listener_->close_all();
    });
    work_.reset();
    thread_.join();
}

std::string Served::head(const std::string& method, const std::string& target) const {
    return method + " " + target + " HTTP/1.1\r\n" + host() + authorization() + "\r\n";
}

RawReply Served::get(const std::string& target) const {
    RawSocket socket = over_tcp();
    if (!socket.is_open() || !socket.write(head("GET", target) + "\r\n")) return {};
    return socket.read();
}

void Served::on_thread(const std::function<void()>& work) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

std::size_t Served::connections() {
    std::size_t count = 0;
    on_thread([&] { count = listener_->connections(); });
    return count;
}

}  // namespace hearth::testing
