#include "daemon/net/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace hearth::net {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeaderLimit = 16U << 10U;
constexpr std::uint64_t kHighestBodyLimit = 1ULL << 40U;  // until the route is known

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

}  // namespace

struct RequestParser::Beast {
    http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser() : beast_(std::make_unique<Beast>()) {
    beast_->parser.header_limit(kHeaderLimit);
    beast_->parser.body_limit(kHighestBodyLimit);
    beast_->parser.eager(false);
}

RequestParser::~RequestParser() = default;

ParseState RequestParser::fail(const ParseFailure& failure) {
    failure_ = failure;
    return state_ = ParseState::failed;
}

ParseState RequestParser::too_large() {
    if (body_limit_ == 0) return fail({413, "too_large", "this route takes no body"});
    return fail({413, "too_large",
                 "the body is larger than the " + std::to_string(body_limit_) +
                     " bytes that this route takes"});
}

ParseState RequestParser::feed(std::string& input) {
    auto& parser = beast_->parser;
    while (state_ == ParseState::need_more && !input.empty()) {
        boost::system::error_code problem;
        const std::size_t used =
            parser.put(boost::asio::buffer(input.data(), input.size()), problem);
        input.erase(0, used);
        if (problem == http::error::need_more) return state_;
        if (problem == http::error::header_limit || problem == http::error::buffer_overflow)
            return fail({431, "headers_too_large", "the head of the request is over 16 KiB"});
        if (problem == http::error::body_limit) return too_large();
        if (problem)
            return fail({400, "bad_request", "this is not an HTTP request: " + problem.message()});
        if (!parser.is_header_done()) continue;
        if (!parser.eager()) {
            read_head();
            return ParseState::head_done;  // state_ stays: accept_body() comes next
        }
        if (parser.is_done())
            state_ = ParseState::complete;
        else if (used == 0)
            return state_;
    }
    return state_;
}

void RequestParser::read_head() {
    const auto& message = beast_->parser.get();
    head_.head.method = text_of(message.method_string());
    head_.head.target = text_of(message.target());
    head_.head.content_type = text_of(message[http::field::content_type]);
    head_.head.content_encoding = text_of(message[http::field::content_encoding]);
    head_.head.last_event_id = text_of(message["Last-Event-ID"]);
    head_.version = static_cast<int>(message.version());
    head_.keep_alive = beast_->parser.keep_alive();
    head_.expects_continue = boost::beast::iequals(message[http::field::expect], "100-continue");
}

ParseState RequestParser::accept_body(std::size_t limit) {
    auto& parser = beast_->parser;
    body_limit_ = limit;
    parser.eager(true);
    parser.body_limit(limit);
    const auto announced = parser.content_length();
    if (announced && *announced > limit) return too_large();
    if (parser.is_done()) state_ = ParseState::complete;
    return state_;
}

std::string RequestParser::take_body() { return std::move(beast_->parser.get().body()); }

}  // namespace hearth::net
