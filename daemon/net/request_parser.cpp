#include "daemon/net/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <iterator>
#include <optional>
#include <vector>

namespace hearth::net {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeaderLimit = 16U << 10U;
constexpr std::size_t kTargetLimit = 8U << 10U;
constexpr std::ptrdiff_t kMostFields = 100;
// "0\r\n\r\n", which ends every chunked body: whatever is missing of one, as many bytes are still
// to come. Asked twice about fewer of them, Beast 1.81 fails an assertion, which ends the process.
constexpr std::size_t kShortestEnd = 5;
constexpr std::uint64_t kHighestBodyLimit = 1ULL << 40U;  // until the route is known

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

// "http://AUTHORITY/path" → "/path".
std::optional<std::string> take_authority(std::string& target) {
    constexpr std::string_view kScheme = "http://";
    const boost::beast::string_view head(target.data(), std::min(target.size(), kScheme.size()));
    if (!boost::beast::iequals(head, {kScheme.data(), kScheme.size()})) return std::nullopt;
    const std::size_t end = std::min(target.find_first_of("/?", kScheme.size()), target.size());
    std::string authority = target.substr(kScheme.size(), end - kScheme.size());
    target.erase(0, end);
    if (!target.starts_with('/')) target.insert(0, "/");
    return authority;
}

}  // namespace

struct RequestParser::Beast {
    http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser() : beast_(std::make_unique<Beast>()) {
    beast_->parser.header_limit(2 * kHeaderLimit);  // ours comes first
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

ParseState RequestParser::target_too_long() {
    return fail({414, "target_too_long", "the target of the request is over 8 KiB"});
}

// `head` is what has come of it.
ParseState RequestParser::head_too_large(std::string_view head) {
    if (std::min(head.find('\n'), head.size()) > kTargetLimit) return target_too_long();
    return fail({431, "headers_too_large",
                 "the head of the request is over 16 KiB or has more than 100 fields"});
}

ParseState RequestParser::feed(std::string& input) {
    std::string_view rest = input;
    const ParseState state =
        beast_->parser.is_header_done() ? take_body_bytes(rest) : take_head_bytes(rest);
    input.erase(0, input.size() - rest.size());
    return state;
}

// Beast gets the head as a whole, so that what it finds cannot depend on how the bytes came; and
// what no head has is refused at its first byte, not when the time is up.
ParseState RequestParser::take_head_bytes(std::string_view& rest) {
    for (; state_ == ParseState::need_more && scanned_ < rest.size(); ++scanned_) {
        if (scanned_ == kHeaderLimit) return head_too_large(rest.substr(0, scanned_));
        if (!may_follow(rest[scanned_])) {
            fail({400, "bad_request", "this is not the head of an HTTP request"});
        } else if (rest.substr(0, scanned_ + 1).ends_with("\r\n\r\n")) {
            const std::string_view head = rest.substr(0, scanned_ + 1);
            rest.remove_prefix(head.size());
            return parse_head(head);
        }
    }
    return state_;
}

// Lines end with CR LF and none goes on in the next: where two readers of a head differ, requests
// are smuggled.
bool RequestParser::may_follow(char c) {
    const char last = std::exchange(last_in_head_, c);
    if (last == '\r' || c == '\n') return last == '\r' && c == '\n';
    if (last == '\0' || last == '\n') return (c > ' ' && c < 0x7F) || (c == '\r' && last == '\n');
    return static_cast<unsigned char>(c) >= ' ' ? c != 0x7F : c == '\t' || c == '\r';
}

ParseState RequestParser::parse_head(std::string_view head) {
    auto& parser = beast_->parser;
    while (!parser.is_header_done()) {
        boost::system::error_code problem;
        const std::size_t used = parser.put(boost::asio::buffer(head.data(), head.size()), problem);
        head.remove_prefix(used);
        if (problem == http::error::body_limit) return too_large();
        if (problem || (used == 0 && !parser.is_header_done()))
            return fail({400, "bad_request", "this is not an HTTP request: " + problem.message()});
    }
    return on_head();  // state_ stays: accept_body() comes next
}

ParseState RequestParser::take_body_bytes(std::string_view& rest) {
    auto& parser = beast_->parser;
    const std::size_t least = parser.chunked() ? kShortestEnd : 1;
    while (state_ == ParseState::need_more && rest.size() >= least) {
        boost::system::error_code problem;
        const std::size_t used = parser.put(boost::asio::buffer(rest.data(), rest.size()), problem);
        rest.remove_prefix(used);
        if (problem == http::error::need_more) {
            if (rest.size() <= kHeaderLimit) return state_;
            return fail({400, "bad_request", "a line between the chunks is over 16 KiB"});
        }
        if (problem == http::error::body_limit) return too_large();
        if (problem)
            return fail({400, "bad_request", "this body is not HTTP: " + problem.message()});
        if (parser.is_done())
            state_ = ParseState::complete;
        else if (used == 0)
            return state_;
    }
    return state_;
}

ParseState RequestParser::on_head() {
    const auto& message = beast_->parser.get();
    if (message.target().size() > kTargetLimit) return target_too_long();
    if (std::distance(message.begin(), message.end()) > kMostFields) return head_too_large({});
    // A coding that we do not undo would leave its bytes to be read as the next request.
    const auto codings = message.equal_range(http::field::transfer_encoding);
    if (codings.first != codings.second &&
        (std::next(codings.first) != codings.second || message.version() < 11 ||
         !boost::beast::iequals(codings.first->value(), "chunked")))
        return fail({400, "bad_request", "the only transfer coding is 'chunked', in HTTP/1.1"});
    read_head();
    return ParseState::head_done;
}

void RequestParser::read_head() {
    const auto& message = beast_->parser.get();
    const auto all = [&message](auto name) {
        std::vector<std::string> values;
        const auto [from, to] = message.equal_range(name);
        for (auto at = from; at != to; ++at) values.push_back(text_of(at->value()));
        return values;
    };
    head_.head.method = text_of(message.method_string());
    head_.head.target = text_of(message.target());
    head_.head.content_type = text_of(message[http::field::content_type]);
    head_.head.content_encoding = text_of(message[http::field::content_encoding]);
    head_.head.last_event_id = text_of(message["Last-Event-ID"]);
    head_.version = static_cast<int>(message.version());
    head_.keep_alive = beast_->parser.keep_alive();
    head_.expects_continue = boost::beast::iequals(message[http::field::expect], "100-continue");
    access::Claims& claims = head_.claims;
    claims.method = head_.head.method;
    claims.authority = take_authority(head_.head.target);
    claims.hosts = all(http::field::host);
    claims.origins = all(http::field::origin);
    claims.authorizations = all(http::field::authorization);
    claims.fetch_sites = all("Sec-Fetch-Site");
    claims.asks_for_method = message.count(http::field::access_control_request_method) > 0;
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
