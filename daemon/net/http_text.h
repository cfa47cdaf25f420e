// Replies as bytes: heads, chunks, server-sent events.
#pragma once

#include <string>
#include <string_view>

#include "daemon/api/reply.h"

namespace hearth::net {

// How a reply is wrapped for the request at hand.
struct Framing {
    bool keep_alive = true;
    bool chunked = true;        // false for HTTP/1.0, where the end of the connection ends a stream
    bool head_only = false;     // the request was HEAD: the reply without its body
    std::string origin = {};    // a page that may read the reply; empty: none
    api::Headers headers = {};  // beside those of the reply
};

// 429 and 503 get a Retry-After.
std::string whole_reply(const api::Reply& reply, const Framing& framing);
std::string event_stream_head(const Framing& framing);
std::string event(const api::Event& event, bool chunked);
std::string comment(std::string_view text, bool chunked);
std::string event_stream_end(bool chunked);
std::string continue_line();

}  // namespace hearth::net
