// One connection: reads requests one after the other, lets the guard decide on each from its head,
// passes it to its route, writes the answers, keeps the connection open. While an answer is on its
// way the socket is still read, so that a client that goes is seen at once and its work is given
// up.
//
// Limits: head 16 KiB within 10 s, body as the route says within 60 s, 60 s between requests, 30 s
// for a write that makes no progress.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/access/guard.h"
#include "daemon/api/reply.h"
#include "daemon/api/router.h"
#include "daemon/net/http_text.h"
#include "daemon/net/request_parser.h"

namespace hearth::net {

struct SessionLimits {
    std::chrono::milliseconds head{10'000};
    std::chrono::milliseconds body{60'000};
    std::chrono::milliseconds idle{60'000};
    std::chrono::milliseconds write{30'000};
    std::chrono::milliseconds linger{1'000};  // for what a refused client still sends
};

// What all sessions of one listener share; outlives their use of it, which ends with close().
struct SessionContext {
    const api::Routes& routes;
    const access::Keyring& keyring;
    access::Door door;
    SessionLimits limits;
};

// shared: the listener's list owns it, and so does every operation that waits on the socket.
class HttpSession final : public api::ReplyStream,
                          public std::enable_shared_from_this<HttpSession> {
public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    using OnClosed = std::function<void(HttpSession*)>;

    HttpSession(Socket socket, const SessionContext& context, OnClosed on_closed);
    void start();
    void turn_away(api::Reply reply);  // instead of start()
    void close();                      // at once; what runs for it is given up
    void close_when_idle();            // now, or when the answer in progress has left

    void add_header(std::string name, std::string value) override;
    void send(api::Reply reply) override;
    void begin_events() override;
    void send(const api::Event& event) override;
    void send_comment(std::string_view text) override;
    void end_events() override;
    std::size_t queued_bytes() const override {
        return pending_.size() + writing_.size() - written_;
    }

private:
    enum class Phase { head, body, answering, closing };

    void read();
    void on_read(std::size_t got);
    void parse();
    void on_head();
    void on_request();
    void answer_unread(api::Reply reply);
    void refuse(api::Reply reply);
    void queue(std::string bytes);
    void write();
    void on_written();
    void finish_answer();
    void report(int status);
    void next_request();
    void end();
    void wait_at_most(std::chrono::milliseconds time);
    void on_timeout();

    Socket socket_;
    const SessionContext& context_;
    OnClosed on_closed_;
    boost::asio::steady_timer read_timer_;
    boost::asio::steady_timer write_timer_;
    std::array<char, 16384> buffer_;
    std::string input_;  // read and not yet parsed
    std::unique_ptr<RequestParser> parser_;
    std::optional<api::Match> match_;
    std::unique_ptr<api::Activity> activity_;
    std::optional<api::Answered> record_;  // of the request in progress
    std::chrono::steady_clock::time_point began_;
    int status_ = 0;
    std::string pending_;  // to be written after writing_
    std::string writing_;
    std::size_t written_ = 0;  // of writing_
    Framing framing_;
    Phase phase_ = Phase::head;
    bool reading_ = false;
    bool head_begun_ = false;
    bool refused_ = false;    // the request was not read to its end
    bool answered_ = false;   // the answer is complete, though perhaps not yet written
    bool held_back_ = false;  // the queue was full; Activity::on_room() is due
    bool closed_ = false;
};

}  // namespace hearth::net
