// Bytes from the other process: frames, then messages of both directions. What decodes must encode
// and decode again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ipc/worker/codec.h"

using namespace hearth;
using namespace hearth::wire;

namespace {

template <typename Message>
void check(const Frame& frame, Result<Message> (*decode)(const Frame&)) {
    const auto message = decode(frame);
    if (!message) return;
    const auto bytes = encode(frame.request, *message);
    if (!bytes) std::abort();
    FrameReader reader;
    reader.feed(*bytes);
    const auto again = reader.next();
    if (!again || !*again || !decode(**again)) std::abort();
}

}  // namespace

// libFuzzer hands raw bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // reinterpret_cast: bytes as characters.
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    FrameReader reader(1 << 16);
    const std::size_t cut = size == 0 ? 0 : data[0] % (size + 1);
    for (const std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
        reader.feed(piece);
        while (true) {
            const auto next = reader.next();
            if (!next) return 0;
            if (!*next) break;
            check<ToWorker>(**next, decode_to_worker);
            check<FromWorker>(**next, decode_from_worker);
        }
    }
    // The fuzzer seldom finds lengths: also take everything as one payload of each kind.
    if (size < 1) return 0;
    Frame frame{.kind = data[0], .request = 1, .payload = std::string(bytes.substr(1))};
    check<ToWorker>(frame, decode_to_worker);
    check<FromWorker>(frame, decode_from_worker);
    return 0;
}
