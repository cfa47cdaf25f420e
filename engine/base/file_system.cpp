#include "engine/base/file_system.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace hearth {
namespace {

template <typename T>
T or_errno(T result) {
    return result < 0 ? static_cast<T>(-errno) : result;
}

class RealFiles final : public FileSystem {
public:
    int open(const std::string& path, int flags, mode_t mode) override {
        return or_errno(::open(path.c_str(), flags | O_CLOEXEC, mode));
    }
    ssize_t read(int file, std::span<std::byte> into) override {
        return or_errno(::read(file, into.data(), into.size()));
    }
    ssize_t write(int file, std::span<const std::byte> bytes) override {
        return or_errno(::write(file, bytes.data(), bytes.size()));
    }
    ssize_t copy_range(int from, std::int64_t& position, int to, std::size_t bytes) override {
        return or_errno(::copy_file_range(from, &position, to, nullptr, bytes, 0));
    }
    int clone(int from, int to) override { return or_errno(::ioctl(to, FICLONE, from)); }
    int sync(int file) override { return or_errno(::fsync(file)); }
    int link(int file, const std::string& name) override {
        // Through the descriptor, so that the very file that was read gets the name.
        const std::string source = "/proc/self/fd/" + std::to_string(file);
        return or_errno(
            ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW));
    }
    int rename(const std::string& from, const std::string& to) override {
        return or_errno(std::rename(from.c_str(), to.c_str()));
    }
    int unlink(const std::string& path) override { return or_errno(::unlink(path.c_str())); }
    int lock(int file) override { return or_errno(::flock(file, LOCK_EX | LOCK_NB)); }
    std::int64_t free_bytes(const std::string& folder) override {
        struct statvfs info{};
        if (::statvfs(folder.c_str(), &info) != 0) return -errno;
        return static_cast<std::int64_t>(info.f_bavail * info.f_frsize);
    }
};

std::string advice_for(int number) {
    switch (number) {
        case ENOSPC:
            return "; free some disk space and try again";
        case EDQUOT:
            return "; your quota is used up: delete something of yours and try again";
        case EROFS:
            return "; mount it for writing, or choose another folder with XDG_DATA_HOME";
        case EACCES:
        case EPERM:
            return "; give this user the right to do so";
        case EIO:
            return "; the disk may be failing: see the kernel's log";
        case ENOLCK:
        case EOPNOTSUPP:
            return "; this file system has no locks: choose a local one with XDG_DATA_HOME";
        default:
            return {};
    }
}

}  // namespace

FileSystem& real_files() {
    static RealFiles files;
    return files;
}

Error file_error(const std::string& path, const std::string& what, int number) {
    const bool full = number == ENOSPC || number == EDQUOT;
    return {full ? ErrorCode::disk_full : ErrorCode::io_failed,
            path + " cannot be " + what + ": " + std::strerror(number) + advice_for(number)};
}

Result<void> sync_folder(FileSystem& files, const std::string& folder) {
    const int opened = files.open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (opened < 0) return file_error(folder, "opened", -opened);
    const int synced = files.sync(opened);
    ::close(opened);
    if (synced < 0) return file_error(folder, "written to disk", -synced);
    return {};
}

Result<void> make_private_folder(const std::string& folder) {
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), problem);
    if (problem) return file_error(folder, "made", problem.value());
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return file_error(folder, "made", errno);
    struct stat info{};  // of what a link leads to: people move folders to larger disks
    if (::stat(folder.c_str(), &info) != 0) return file_error(folder, "looked at", errno);
    if (!S_ISDIR(info.st_mode)) return file_error(folder, "used", ENOTDIR);
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::forbidden,
                     "the folder " + folder +
                         " belongs to another user; give it to this one, or choose another with "
                         "XDG_DATA_HOME"};
    if ((info.st_mode & 0777U) != 0700 && ::chmod(folder.c_str(), 0700) != 0)
        return file_error(folder, "closed to others", errno);
    return {};
}

}  // namespace hearth
