// Frames over a blocking socket: the worker's side. The daemon's side is asynchronous
// (daemon/supervise).
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/result.h"
#include "ipc/worker/frames.h"

namespace hearth::wire {

// Waits for the next frame; empty when the peer has closed the connection. too_large, io_failed.
Result<std::optional<Frame>> read_frame(int socket, FrameReader& reader);
// io_failed when the peer is gone; raises no signal.
Result<void> write_frame(int socket, std::string_view bytes);

}  // namespace hearth::wire
