#include "daemon/net/http_session.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "daemon/api/failure_reply.h"
#include "daemon/net/http_text.h"

namespace hearth::net {
namespace {

// What a client may send ahead while an answer is on its way. Beyond it the socket rests.
constexpr std::size_t kMaxAhead = 64UL << 10U;

}  // namespace

HttpSession::HttpSession(Socket socket, const api::Router& router, const SessionLimits& limits,
                         OnClosed on_closed)
    : socket_(std::move(socket)),
      router_(router),
      limits_(limits),
      on_closed_(std::move(on_closed)),
      read_timer_(socket_.get_executor()),
      write_timer_(socket_.get_executor()),
      parser_(std::make_unique<RequestParser>()) {}

void HttpSession::start() {
    wait_at_most(limits_.head);
    read();
}

void HttpSession::close() {
    if (std::exchange(closed_, true)) return;
    constexpr int kClientGone = 499;
    report(kClientGone);
    boost::system::error_code ignored;
    socket_.close(ignored);
    read_timer_.cancel();
    write_timer_.cancel();
    // The activity may be on the stack right now: it goes with the next turn of the loop.
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->activity_.reset();
        self->on_closed_(self.get());
    });
}

void HttpSession::close_when_idle() {
    keep_alive_ = false;
    const bool idle = phase_ == Phase::head || phase_ == Phase::body;
    if (idle && queued_bytes() == 0) close();
}

// ---- reading ----

void HttpSession::read() {
    if (reading_ || closed_ || phase_ == Phase::closing) return;
    if (phase_ == Phase::answering && input_.size() >= kMaxAhead) return;
    reading_ = true;
    socket_.async_read_some(
        boost::asio::buffer(buffer_),
        [self = shared_from_this()](const boost::system::error_code& problem, std::size_t got) {
            self->reading_ = false;
            if (problem) return self->close();  // gone, or closed by us
            self->on_read(got);
        });
}

void HttpSession::on_read(std::size_t got) {
    if (closed_) return;
    if (phase_ == Phase::head && input_.empty()) wait_at_most(limits_.head);
    input_.append(buffer_.data(), got);
    parse();
    read();
}

void HttpSession::parse() {
    while (!closed_ && (phase_ == Phase::head || phase_ == Phase::body)) {
        const ParseState state = parser_->feed(input_);
        if (state == ParseState::need_more) return;
        if (state == ParseState::head_done) {
            on_head();
        } else if (state == ParseState::complete) {
            on_request();
        } else {
            const ParseFailure& failure = parser_->failure();
            refuse(api::refusal(failure.status, failure.code, failure.message));
        }
    }
}

void HttpSession::on_head() {
    const ParsedHead& head = parser_->head();
    began_ = std::chrono::steady_clock::now();
    record_ = api::Answered{.method = head.head.method,
                            .path = head.head.target.substr(0, head.head.target.find('?'))};
    keep_alive_ = keep_alive_ && head.keep_alive;
    chunked_ = head.version >= 11;
    keep_alive_ = keep_alive_ && chunked_;
    auto found = api::Router::find(head.head);
    if (auto* reply = std::get_if<api::Reply>(&found)) return refuse(std::move(*reply));
    match_ = std::move(std::get<api::Match>(found));
    record_->route = match_->route->pattern;
    phase_ = Phase::body;
    wait_at_most(limits_.body);
    const ParseState state = parser_->accept_body(match_->route->body_limit);
    if (state == ParseState::complete) return on_request();
    if (state == ParseState::failed) return;  // parse() refuses
    if (head.expects_continue) queue(continue_line());
}

void HttpSession::on_request() {
    read_timer_.cancel();
    phase_ = Phase::answering;
    answered_ = false;
    const api::Match match = *std::exchange(match_, std::nullopt);
    std::string body = parser_->take_body();
    if (record_) record_->bytes_in = body.size();
    auto activity = router_.handle(match, std::move(body), *this);
    parser_.reset();
    if (!answered_) activity_ = std::move(activity);
}

// The body was not read, so the next request cannot be found: the connection ends.
void HttpSession::refuse(api::Reply reply) {
    keep_alive_ = false;
    read_timer_.cancel();
    phase_ = Phase::answering;
    if (!record_) {  // what came was no request
        began_ = std::chrono::steady_clock::now();
        record_.emplace();
    }
    send(std::move(reply));
}

void HttpSession::wait_at_most(std::chrono::milliseconds time) {
    read_timer_.expires_after(time);
    read_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& problem) {
        if (problem || self->phase_ == Phase::answering || self->phase_ == Phase::closing) return;
        if (self->phase_ == Phase::head && self->input_.empty()) return self->close();
        self->refuse(api::refusal(408, "timed_out", "the request did not arrive in time"));
    });
}

// ---- writing ----

void HttpSession::send(api::Reply reply) {
    status_ = reply.status;
    queue(whole_reply(reply, keep_alive_));
    finish_answer();
}

void HttpSession::begin_events() {
    constexpr int kOk = 200;
    status_ = kOk;
    queue(event_stream_head(keep_alive_, chunked_));
}

void HttpSession::send(const api::Event& event) { queue(net::event(event, chunked_)); }

void HttpSession::send_comment(std::string_view text) { queue(comment(text, chunked_)); }

void HttpSession::end_events() {
    queue(event_stream_end(chunked_));
    finish_answer();
}

void HttpSession::queue(std::string bytes) {
    if (closed_) return;
    if (record_) record_->bytes_out += bytes.size();
    if (pending_.empty())
        pending_ = std::move(bytes);
    else
        pending_ += bytes;
    if (queued_bytes() >= kQueueLimit) held_back_ = true;
    if (writing_.empty()) write();
}

void HttpSession::write() {
    writing_ = std::exchange(pending_, {});
    if (writing_.empty()) return;
    write_timer_.expires_after(limits_.write);
    write_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& problem) {
        if (!problem) self->close();  // the client does not read
    });
    boost::asio::async_write(
        socket_, boost::asio::buffer(writing_),
        [self = shared_from_this()](const boost::system::error_code& problem, std::size_t) {
            self->writing_.clear();
            self->write_timer_.cancel();
            if (problem) return self->close();
            self->on_written();
        });
}

void HttpSession::on_written() {
    if (closed_) return;
    if (!pending_.empty()) write();
    if (held_back_ && queued_bytes() < kQueueLimit) {
        held_back_ = false;
        if (activity_ && !answered_) activity_->on_room();
    }
    if (queued_bytes() > 0 || phase_ != Phase::answering || !answered_) return;
    if (keep_alive_) return next_request();
    phase_ = Phase::closing;
    close();
}

void HttpSession::finish_answer() {
    answered_ = true;
    report(status_);
    // Whoever called this may be the activity itself: it goes with the next turn of the loop.
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (self->answered_) self->activity_.reset();
    });
}

// Once per request.
void HttpSession::report(int status) {
    if (!record_) return;
    record_->status = status;
    record_->time = std::chrono::steady_clock::now() - began_;
    router_.answered(*std::exchange(record_, std::nullopt));
}

void HttpSession::next_request() {
    activity_.reset();
    parser_ = std::make_unique<RequestParser>();
    phase_ = Phase::head;
    answered_ = false;
    wait_at_most(input_.empty() ? limits_.idle : limits_.head);
    parse();
    read();
}

}  // namespace hearth::net
