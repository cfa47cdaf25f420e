// Replies as bytes: heads, chunks, server-sent events.
#pragma once

#include <string>
#include <string_view>

#include "daemon/api/reply.h"

namespace hearth::net {

std::string whole_reply(const api::Reply& reply, bool keep_alive);
// `chunked` is false for HTTP/1.0, where the end of the connection ends the stream.
std::string event_stream_head(bool keep_alive, bool chunked);
std::string event(const api::Event& event, bool chunked);
std::string comment(std::string_view text, bool chunked);
std::string event_stream_end(bool chunked);
std::string continue_line();

}  // namespace hearth::net
