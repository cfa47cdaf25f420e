// Bytes → one HTTP/1.1 request, with every limit. The only file of the daemon that includes Beast
// is its .cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/access/claims.h"
#include "daemon/api/reply.h"

namespace hearth::net {

struct ParsedHead {
    api::RequestHead head;  // the target without the authority of an absolute form
    access::Claims claims;
    int version = 11;  // 10 or 11
    bool keep_alive = true;
    bool expects_continue = false;
};

enum class ParseState { need_more, head_done, complete, failed };

struct ParseFailure {
    int status = 400;
    std::string code;
    std::string message;
};

// Use: feed() until head_done; then accept_body() and feed() until complete. A failed parser stays
// failed, and its connection must be closed: where the next request starts is unknown.
class RequestParser {
public:
    RequestParser();
    ~RequestParser();
    RequestParser(const RequestParser&) = delete;
    RequestParser& operator=(const RequestParser&) = delete;

    // Takes what it needs from the front of `input`.
    ParseState feed(std::string& input);
    const ParsedHead& head() const { return head_; }
    // Failed at once when the head announces more than `limit` bytes.
    ParseState accept_body(std::size_t limit);
    std::string take_body();
    const ParseFailure& failure() const { return failure_; }

private:
    struct Beast;
    ParseState take_head_bytes(std::string_view& rest);
    ParseState parse_head(std::string_view head);
    ParseState take_body_bytes(std::string_view& rest);
    bool may_follow(char c);
    ParseState on_head();
    ParseState fail(const ParseFailure& failure);
    ParseState too_large();
    ParseState target_too_long();
    ParseState head_too_large(std::string_view head);
    void read_head();

    std::unique_ptr<Beast> beast_;
    ParsedHead head_;
    ParseFailure failure_;
    ParseState state_ = ParseState::need_more;
    std::size_t body_limit_ = 0;
    std::size_t scanned_ = 0;  // of the head
    char last_in_head_ = '\0';
};

}  // namespace hearth::net
