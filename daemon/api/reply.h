// What `net` hands to `api` and must provide for the answer. One request, one ReplyStream: either
// one whole Reply, or a stream of events. Everything runs on thread "hearth-net".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
    bool over_tcp = false;           // else over the Unix socket
    std::string last_event_id = {};  // of a reader of server-sent events that comes back
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body = {};
    Headers headers = {};
};

// One server-sent event: `data` is one line. Readers call an event without a name "message"; one
// without an id (0) leaves the id that they would come back with as it is.
struct Event {
    std::string_view data;
    std::string_view name = {};
    std::uint64_t id = 0;
};

class ReplyStream {
public:
    virtual ~ReplyStream() = default;

    // Goes out with the head of the answer, whichever of the two kinds it will be.
    virtual void add_header(std::string name, std::string value) = 0;

    virtual void send(Reply reply) = 0;  // once, and instead of the calls below

    virtual void begin_events() = 0;  // status 200, text/event-stream
    virtual void send(const Event& event) = 0;
    virtual void send_comment(std::string_view text) = 0;  // readers skip it
    virtual void end_events() = 0;
    void send_event(std::string_view data) { send(Event{data}); }

    // Bytes that were sent here and are not yet in the kernel's hands. At kQueueLimit a sender
    // rests until Activity::on_room().
    virtual std::size_t queued_bytes() const = 0;
    static constexpr std::size_t kQueueLimit = 256UL << 10U;
};

// What became of one request, for the log and the counters.
struct Answered {
    std::string_view route = {};  // its pattern in the table; empty: none was found
    std::string method = {};
    std::string path = {};  // without the query
    int status = 0;         // 499: the client went before the answer began
    std::chrono::steady_clock::duration time{};
    std::uint64_t bytes_in = 0;  // of the body
    std::uint64_t bytes_out = 0;
};

// Work that goes on after the handler returned. `net` destroys it when the reply is complete, or
// when the client is gone: the destructor gives up what still runs. The ReplyStream outlives it.
class Activity {
public:
    virtual ~Activity() = default;
    virtual void on_room() {}  // queued_bytes() has fallen below the limit
};

}  // namespace hearth::api
