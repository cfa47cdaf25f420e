// Messages to frames and back. Decoding is strict, because neither side trusts the other: a missing
// or unknown field, a wrong type, a number out of range or an unknown kind is bad_input, and
// nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "ipc/worker/frames.h"
#include "ipc/worker/messages.h"

namespace hearth::wire {

// A whole frame. too_large when the message does not fit into one.
Result<std::string> encode(std::uint64_t request, const ToWorker& message);
Result<std::string> encode(std::uint64_t request, const FromWorker& message);

Result<ToWorker> decode_to_worker(const Frame& frame);
Result<FromWorker> decode_from_worker(const Frame& frame);

// The words that stand for them in a frame, and wherever else they are written.
std::string_view to_string(Priority priority);
std::string_view to_string(FinishReason reason);

}  // namespace hearth::wire
