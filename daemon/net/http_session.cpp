#include "daemon/net/http_session.h"

#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "daemon/api/failure_reply.h"

namespace hearth::net {
namespace {

// What a client may send ahead while an answer is on its way. Beyond it the socket rests.
constexpr std::size_t kMaxAhead = 64UL << 10U;

using Timer = boost::asio::steady_timer;

// A handler that was queued before its timer was set anew must not act.
bool has_passed(const Timer& timer) { return timer.expiry() <= Timer::clock_type::now(); }

void stop(Timer& timer) { timer.expires_at(Timer::time_point::max()); }

// Over the Unix socket a program has many connections and one number.
std::string peer_of(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
    return "pid " + std::to_string(peer.pid);
}

api::Reply reply_for(const access::Verdict& verdict) {
    if (verdict.status == 204)
        return {.status = 204,
                .headers = {{"Access-Control-Allow-Methods", "GET, POST, DELETE"},
                            {"Access-Control-Allow-Headers", "Authorization, *"},
                            {"Access-Control-Max-Age", "600"}}};
    api::Reply reply = api::refusal(verdict.status, verdict.code, verdict.message);
    if (verdict.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
}

}  // namespace

HttpSession::HttpSession(Socket socket, const SessionContext& context, OnClosed on_closed)
    : socket_(std::move(socket)),
      context_(context),
      on_closed_(std::move(on_closed)),
      read_timer_(socket_.get_executor()),
      write_timer_(socket_.get_executor()),
      parser_(std::make_unique<RequestParser>()) {}

void HttpSession::start() {
    wait_at_most(context_.limits.head);
    read();
}

void HttpSession::turn_away(api::Reply reply) { refuse(std::move(reply)); }

void HttpSession::close() {
    if (std::exchange(closed_, true)) return;
    constexpr int kClientGone = 499;
    report(status_ != 0 ? status_ : kClientGone);  // a reader of events goes when it likes
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
    framing_.keep_alive = false;
    const bool idle = phase_ != Phase::answering;
    if (idle && queued_bytes() == 0) close();
}

// A socket that is closed with unread bytes in it takes back what was written: so a refused client
// is told that we are done, and what it still sends is thrown away for a moment.
void HttpSession::end() {
    phase_ = Phase::closing;
    if (!refused_ && input_.empty()) return close();
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    wait_at_most(context_.limits.linger);
    read();
}

// ---- reading ----

void HttpSession::read() {
    if (reading_ || closed_) return;
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
    if (phase_ != Phase::closing) {
        if (phase_ == Phase::head && !std::exchange(head_begun_, true))
            wait_at_most(context_.limits.head);
        input_.append(buffer_.data(), got);
        parse();
    }
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
    status_ = 0;
    record_ = api::Answered{.method = head.head.method,
                            .path = head.head.target.substr(0, head.head.target.find('?'))};
    framing_.chunked = head.version >= 11;
    framing_.keep_alive = framing_.keep_alive && head.keep_alive && framing_.chunked;
    framing_.head_only = head.head.method == "HEAD";
    api::RequestHead request = head.head;
    request.over_tcp = context_.door.over_tcp;
    const access::Verdict verdict = access::judge(
        head.claims, context_.door, context_.routes.permission(request), context_.keyring);
    framing_.origin = verdict.origin;
    if (verdict.status != 0) return answer_unread(reply_for(verdict));
    auto found = context_.routes.route(request);
    if (auto* reply = std::get_if<api::Reply>(&found)) return answer_unread(std::move(*reply));
    match_ = std::move(std::get<api::Match>(found));
    record_->route = match_->route->pattern;
    phase_ = Phase::body;
    wait_at_most(context_.limits.body);
    const ParseState state = parser_->accept_body(match_->route->body_limit);
    if (state == ParseState::complete) return on_request();
    if (state == ParseState::failed) return;  // parse() refuses
    if (head.expects_continue) queue(continue_line());
}

void HttpSession::on_request() {
    stop(read_timer_);
    phase_ = Phase::answering;
    answered_ = false;
    api::Match match = *std::exchange(match_, std::nullopt);
    match.peer = context_.door.over_tcp ? "tcp" : peer_of(socket_.native_handle());
    std::string body = parser_->take_body();
    if (record_) record_->bytes_in = body.size();
    auto activity = context_.routes.handle(match, std::move(body), *this);
    parser_.reset();
    if (!answered_) activity_ = std::move(activity);
}

// A refusal from the head alone. Where no body follows, the next request can be found.
void HttpSession::answer_unread(api::Reply reply) {
    if (parser_->accept_body(0) != ParseState::complete) return refuse(std::move(reply));
    stop(read_timer_);
    phase_ = Phase::answering;
    send(std::move(reply));
}

// The request was not read to its end, so the next one cannot be found: the connection ends.
void HttpSession::refuse(api::Reply reply) {
    framing_.keep_alive = false;
    refused_ = true;
    stop(read_timer_);
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
        if (!problem && !self->closed_ && has_passed(self->read_timer_)) self->on_timeout();
    });
}

void HttpSession::on_timeout() {
    if (phase_ == Phase::answering) return;
    if (phase_ == Phase::closing || (phase_ == Phase::head && !head_begun_)) return close();
    refuse(api::refusal(408, "timed_out", "the request did not arrive in time"));
}

// ---- writing ----

void HttpSession::add_header(std::string name, std::string value) {
    framing_.headers.emplace_back(std::move(name), std::move(value));
}

void HttpSession::send(api::Reply reply) {
    status_ = reply.status;
    queue(whole_reply(reply, framing_));
    finish_answer();
}

void HttpSession::begin_events() {
    constexpr int kOk = 200;
    status_ = kOk;
    queue(event_stream_head(framing_));
}

void HttpSession::send(const api::Event& event) { queue(net::event(event, framing_.chunked)); }

void HttpSession::send_comment(std::string_view text) { queue(comment(text, framing_.chunked)); }

void HttpSession::end_events() {
    queue(event_stream_end(framing_.chunked));
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
    if (writing_.empty()) writing_ = std::exchange(pending_, {});
    if (writing_.empty()) return;
    write_timer_.expires_after(context_.limits.write);
    write_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& problem) {
        if (!problem && has_passed(self->write_timer_)) self->close();  // the client does not read
    });
    socket_.async_write_some(
        boost::asio::buffer(writing_.data() + written_, writing_.size() - written_),
        [self = shared_from_this()](const boost::system::error_code& problem, std::size_t sent) {
            stop(self->write_timer_);
            if (problem) return self->close();
            self->written_ += sent;
            if (self->written_ < self->writing_.size()) {
                if (!self->closed_) self->write();
                return;
            }
            self->writing_.clear();
            self->written_ = 0;
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
    if (framing_.keep_alive) return next_request();
    end();
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
    context_.routes.answered(*std::exchange(record_, std::nullopt));
}

void HttpSession::next_request() {
    activity_.reset();
    parser_ = std::make_unique<RequestParser>();
    framing_.head_only = false;
    framing_.origin.clear();
    framing_.headers.clear();
    phase_ = Phase::head;
    answered_ = false;
    head_begun_ = !input_.empty();
    wait_at_most(head_begun_ ? context_.limits.head : context_.limits.idle);
    parse();
    read();
}

}  // namespace hearth::net
