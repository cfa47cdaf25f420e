// Frames on the socket between hearthd and hearth-worker. All numbers are little-endian:
//
//   u32 length of the payload | u16 kind | u64 request | payload (JSON)
//
// `request` is the generation that a frame belongs to; 0 for frames about the whole worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace hearth::wire {

constexpr std::size_t kHeaderBytes = 14;
constexpr std::size_t kMaxPayload = 64 * kMiB;

// Numbers are part of the protocol. To the worker below 100, from it from 100 on.
enum class Kind : std::uint16_t {
    load = 1,
    generate = 2,
    cancel = 3,
    credit = 4,
    shutdown = 5,
    stats_request = 6,
    tokenize = 7,
    detokenize = 8,
    ready = 100,
    failed = 101,
    accepted = 102,
    delta = 103,
    done = 104,
    failure = 105,
    stats = 106,
    tokens = 107,
};

struct Frame {
    std::uint16_t kind = 0;  // as received: may be none of Kind
    std::uint64_t request = 0;
    std::string payload;
};

// `payload` is at most kMaxPayload bytes.
std::string encode_frame(Kind kind, std::uint64_t request, std::string_view payload);

// Takes bytes as they come and gives whole frames. Memory grows with what has arrived, never with
// what a header promises.
class FrameReader {
public:
    explicit FrameReader(std::size_t max_payload = kMaxPayload) : max_payload_(max_payload) {}

    void feed(std::string_view bytes);
    // Empty when the next frame is not complete. too_large for a header that promises more than the
    // limit; the reader is of no use after that.
    Result<std::optional<Frame>> next();
    // Bytes that wait for the rest of their frame.
    std::size_t pending() const { return buffer_.size() - used_; }

private:
    std::size_t max_payload_;
    std::string buffer_;
    std::size_t used_ = 0;  // bytes of buffer_ that were given out
};

}  // namespace hearth::wire
