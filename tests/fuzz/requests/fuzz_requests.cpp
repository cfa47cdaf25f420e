// Any bytes as the body of a request. What a reader accepts must be written again, and that must be
// read as the same: client and daemon share these functions. Replies and errors go the same way.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ipc/protocol/chat.h"
#include "ipc/protocol/failure.h"
#include "ipc/protocol/library.h"
#include "ipc/protocol/status.h"
#include "ipc/protocol/tokens.h"

namespace {

namespace json = boost::json;
using hearth::protocol::Fields;

// Equal, but for the last digits of numbers that are no integers: Boost.JSON 1.81 may read a
// decimal as the neighbour of the nearest double.
bool alike(const json::value& a, const json::value& b) {
    if (a.is_double() && b.is_double())
        return std::abs(a.get_double() - b.get_double()) <= 1e-14 * std::abs(a.get_double());
    if (const json::array* list = a.if_array())
        return b.is_array() && std::ranges::equal(*list, b.get_array(), alike);
    if (!a.is_object() || !b.is_object()) return a == b;
    return std::ranges::equal(a.get_object(), b.get_object(), [](const auto& x, const auto& y) {
        return x.key() == y.key() && alike(x.value(), y.value());
    });
}

// The text of what `read` makes of an object; nothing when it refuses it.
template <typename Read, typename Write>
bool round_trip(const json::object& object, Read read, Write write) {
    Fields fields(object);
    const auto value = read(fields);
    if (fields.unknown().size() > Fields::kMaxUnknown) std::abort();
    if (fields.failure()) {
        // A failure must be sayable: UTF-8, with the sentence that people read.
        if (fields.failure()->error.message.empty()) std::abort();
        json::serialize(hearth::protocol::to_json(*fields.failure(), "invalid_request_error"));
        return false;
    }
    const json::object written = write(value);
    const auto parsed = hearth::protocol::parse_json(json::serialize(written));
    if (!parsed) std::abort();
    Fields again(parsed->get_object());
    const auto same = read(again);
    if (again.failure() || !again.unknown().empty()) std::abort();
    if (!alike(write(same), written)) std::abort();
    return true;
}

void read_requests(const json::object& object) {
    using namespace hearth::protocol;
    const auto write = [](const auto& value) { return to_json(value); };
    round_trip(object, read_chat_request, write);
    round_trip(object, read_completion_request, write);
    round_trip(object, read_import_request, write);
    round_trip(object, read_tokenize_request, write);
    round_trip(object, read_detokenize_request, write);
}

// A client must survive whatever a daemon says.
void read_replies(const json::object& object) {
    using namespace hearth::protocol;
    for (const auto shape : {ReplyShape::chat, ReplyShape::completion_chunk}) {
        Fields fields(object);
        const Reply reply = read_reply(fields);
        if (!fields.failure()) json::serialize(to_json(reply, ReplyStyle{shape, true, true, true}));
    }
    Fields status(object);
    read_status(status);
    Fields models(object);
    read_model_list(models);
    Fields import(object);
    read_import_reply(import);
    failure_from_json(object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // reinterpret_cast: the fuzzer's bytes as text.
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto value = hearth::protocol::parse_json(input);
    if (!value || !value->is_object()) return 0;
    read_requests(value->get_object());
    read_replies(value->get_object());
    return 0;
}
