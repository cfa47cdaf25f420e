#include "daemon/net/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hearth::net {
namespace {

Error system_error(const std::string& what, int number) {
    return {ErrorCode::io_failed, what + ": " + std::strerror(number)};
}

Result<void> prepare_folder(const std::string& folder) {
    std::error_code problem;
    const std::filesystem::path path(folder);
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), problem);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return system_error("the folder " + folder + " cannot be made", errno);
    struct stat info{};
    if (::lstat(folder.c_str(), &info) != 0)
        return system_error("the folder " + folder + " cannot be looked at", errno);
    if (!S_ISDIR(info.st_mode)) return Error{ErrorCode::io_failed, folder + " is not a folder"};
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::forbidden, "the folder " + folder + " belongs to another user"};
    if ((info.st_mode & 0077U) != 0 && ::chmod(folder.c_str(), 0700) != 0)
        return system_error("the folder " + folder + " cannot be closed to others", errno);
    return {};
}

std::string holder_of(int lock) {
    std::array<char, 32> text{};
    const ssize_t got = ::pread(lock, text.data(), text.size() - 1, 0);
    std::string pid(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return pid.empty() ? "another process" : "process " + pid;
}

Result<int> take_lock(const std::string& path, const std::string& socket) {
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return system_error("the lock " + path + " cannot be opened", errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        const int number = errno;
        const std::string holder = holder_of(lock);
        ::close(lock);
        if (number != EWOULDBLOCK) return system_error("the lock " + path + " failed", number);
        return Error{ErrorCode::busy, "hearthd already runs at " + socket + " (" + holder + ")"};
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock, 0) != 0 ||
        ::pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        const int number = errno;
        ::close(lock);
        return system_error("the lock " + path + " cannot be written", number);
    }
    return lock;
}

}  // namespace

Result<SocketFile> SocketFile::lock(const std::string& path) {
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        return Error{ErrorCode::bad_input, "the socket path is longer than 107 bytes: " + path};
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0)
        return Error{ErrorCode::bad_input, "the socket needs a folder of its own: " + path};
    HEARTH_TRY_VOID(prepare_folder(path.substr(0, slash)));
    HEARTH_TRY(const int lock, take_lock(path + ".lock", path));
    return SocketFile(path, lock);
}

Result<SocketFile> SocketFile::adopt(const std::string& path, int descriptor) {
    HEARTH_TRY(SocketFile file, lock(path));
    file.listener_ = descriptor;
    return file;
}

Result<SocketFile> SocketFile::listen(const std::string& path) {
    HEARTH_TRY(SocketFile file, lock(path));
    HEARTH_TRY_VOID(file.clear_path());
    HEARTH_TRY_VOID(file.bind_and_listen());
    return file;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      listener_(std::exchange(other.listener_, -1)),
      bound_(std::exchange(other.bound_, false)) {}

SocketFile::~SocketFile() {
    if (listener_ >= 0) ::close(listener_);
    if (bound_) ::unlink(path_.c_str());
    if (lock_ >= 0) ::close(lock_);
}

int SocketFile::take_descriptor() { return std::exchange(listener_, -1); }

// Whoever holds the lock and finds a socket that nobody answers has found a stale one.
Result<void> SocketFile::clear_path() const {
    struct stat info{};
    if (::lstat(path_.c_str(), &info) != 0) {
        if (errno == ENOENT) return {};
        return system_error(path_ + " cannot be looked at", errno);
    }
    if (!S_ISSOCK(info.st_mode))
        return Error{ErrorCode::io_failed,
                     path_ + " is in the way: it is not a socket; move it or use --socket"};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const bool answered = ::connect(probe, generic, sizeof address) == 0 || errno == EAGAIN;
    ::close(probe);
    if (answered) return Error{ErrorCode::busy, "another program answers at " + path_};
    if (::unlink(path_.c_str()) != 0)
        return system_error("the stale socket " + path_ + " cannot be removed", errno);
    return {};
}

Result<void> SocketFile::bind_and_listen() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener_ < 0) return system_error("no socket could be made", errno);
    const mode_t mask = ::umask(0177);  // before bind, so that it is never open to others
    // reinterpret_cast is how the socket interface takes addresses.
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const int failed = ::bind(listener_, generic, sizeof address);
    const int number = errno;
    ::umask(mask);
    if (failed != 0) return system_error("the socket " + path_ + " cannot be made", number);
    bound_ = true;
    if (::listen(listener_, SOMAXCONN) != 0)
        return system_error("the socket " + path_ + " cannot listen", errno);
    return {};
}

}  // namespace hearth::net
