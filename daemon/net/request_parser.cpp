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

// `rest` is what was not taken; when that is all, the target stands in its first line.
ParseState RequestParser::head_too_large(std::string_view rest) {
    std::size_t target = beast_->parser.get().target().size();
    if (target == 0) target = std::min(rest.find('\n'), rest.size());
    if (target > kTargetLimit)
        return fail({414, "target_too_long", "the target of the request is over 8 KiB"});
    return fail({431, "headers_too_large",
                 "the head of the request is over 16 KiB or has more than 100 fields"});
}

ParseState RequestParser::feed(std::string& input) {
    std::string_view rest = input;
    const ParseState state = advance(rest);
    input.erase(0, input.size() - rest.size());
    return state;
}

ParseState RequestParser::advance(std::string_view& rest) {
    auto& parser = beast_->parser;
    while (state_ == ParseState::need_more && !rest.empty()) {
        boost::system::error_code problem;
        const std::size_t used = parser.put(boost::asio::buffer(rest.data(), rest.size()), problem);
        if (!parser.eager() && is_folded(rest.substr(0, used)))
            return fail({400, "bad_request", "a header field goes on in the next line"});
        rest.remove_prefix(used);
        if (problem == http::error::need_more) {
            if (rest.size() <= kHeaderLimit) return state_;
            return fail({400, "bad_request", "a line between the chunks is over 16 KiB"});
        }
        if (problem == http::error::header_limit || problem == http::error::buffer_overflow)
            return head_too_large(rest);
        if (problem == http::error::body_limit) return too_large();
        if (problem)
            return fail({400, "bad_request", "this is not an HTTP request: " + problem.message()});
        if (!parser.is_header_done()) continue;
        if (!parser.eager()) return on_head();  // state_ stays: accept_body() comes next
        if (parser.is_done())
            state_ = ParseState::complete;
        else if (used == 0)
            return state_;
    }
    return state_;
}

// Beast joins folded lines; others do not, and where two readers differ requests are smuggled.
bool RequestParser::is_folded(std::string_view head_bytes) {
    for (const char c : head_bytes) {
        if (last_in_head_ == '\n' && (c == ' ' || c == '\t')) return true;
        last_in_head_ = c;
    }
    return false;
}

ParseState RequestParser::on_head() {
    const auto& message = beast_->parser.get();
    if (message.target().size() > kTargetLimit ||
        std::distance(message.begin(), message.end()) > kMostFields)
        return head_too_large({});
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
