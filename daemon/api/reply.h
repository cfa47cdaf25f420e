// What `net` hands to `api` and must provide for the answer. One request, one ReplyStream: either
// one whole Reply, or a stream of events. Everything runs on thread "hearth-net".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::api {

// The head of a request, before its body is read.
struct RequestHead {
    std::string method;
    std::string target;  // path and query, as sent
    std::string content_type;
    std::string content_encoding;
    bool over_tcp = false;  // else over the Unix socket
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
};

class ReplyStream {
public:
    virtual ~ReplyStream() = default;

    virtual void send(Reply reply) = 0;  // once, and instead of the calls below

    virtual void begin_events() = 0;                     // status 200, text/event-stream
    virtual void send_event(std::string_view data) = 0;  // one line of data
    virtual void end_events() = 0;

    // Bytes that were sent here and are not yet in the kernel's hands. At kQueueLimit a sender
    // rests until Activity::on_room().
    virtual std::size_t queued_bytes() const = 0;
    static constexpr std::size_t kQueueLimit = 256UL << 10U;
};

// Work that goes on after the handler returned. `net` destroys it when the reply is complete, or
// when the client is gone: the destructor gives up what still runs. The ReplyStream outlives it.
class Activity {
public:
    virtual ~Activity() = default;
    virtual void on_room() {}  // queued_bytes() has fallen below the limit
};

}  // namespace hearth::api
