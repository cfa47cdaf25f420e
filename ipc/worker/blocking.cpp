// recv and send until done, through interruptions.
#include "ipc/worker/blocking.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hearth::wire {

Result<std::optional<Frame>> read_frame(int socket, FrameReader& reader) {
    std::array<char, 64 * kKiB> bytes;
    while (true) {
        HEARTH_TRY(std::optional<Frame> frame, reader.next());
        if (frame) return frame;
        const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            return Error{ErrorCode::io_failed,
                         std::string("cannot read from the daemon: ") + std::strerror(errno)};
        }
        if (count == 0) return std::optional<Frame>();
        reader.feed({bytes.data(), static_cast<std::size_t>(count)});
    }
}

Result<void> write_frame(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            return Error{ErrorCode::io_failed,
                         std::string("cannot write to the daemon: ") + std::strerror(errno)};
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

}  // namespace hearth::wire
