#include "daemon/store/data_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace hearth::store {
namespace {

constexpr std::size_t kMaxNote = 512;  // a process id and a socket path of at most 107 bytes

// "at SOCKET (process N)", as the holder has written it.
std::string holder_of(FileSystem& files, int file) {
    std::array<std::byte, kMaxNote> bytes{};
    const ssize_t got = files.read(file, bytes);
    std::string note;
    for (ssize_t i = 0; i < got; ++i) {
        const char c = static_cast<char>(bytes[static_cast<std::size_t>(i)]);
        if (c == '\n') break;
        note += c;
    }
    return note;
}

Result<void> write_note(FileSystem& files, int file, const std::string& note) {
    if (::ftruncate(file, 0) != 0) return file_error("the lock", "written", errno);
    const ssize_t put = files.write(file, std::as_bytes(std::span(note)));
    // A full disk must not keep hearthd from starting: the lock holds without its note.
    if (put < 0 && put != -ENOSPC && put != -EDQUOT)
        return file_error("the lock", "written", static_cast<int>(-put));
    return {};
}

}  // namespace

Result<DataLock> DataLock::take(FileSystem& files, const std::string& folder,
                                const std::string& socket) {
    const std::string path = folder + "/hearth.lock";
    const int file = files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (file < 0) return file_error(path, "opened", -file);
    DataLock lock(file);
    if (const int taken = files.lock(file); taken < 0) {
        if (taken != -EWOULDBLOCK) return file_error(path, "locked", -taken);
        const std::string holder = holder_of(files, file);
        return Error{ErrorCode::busy, "hearthd already runs on " + folder +
                                          (holder.empty() ? std::string() : " " + holder)};
    }
    HEARTH_TRY_VOID(write_note(files, file,
                               "at " + socket + " (process " + std::to_string(::getpid()) + ")\n"));
    return lock;
}

DataLock::DataLock(DataLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

DataLock::~DataLock() {
    if (file_ >= 0) ::close(file_);
}

}  // namespace hearth::store
