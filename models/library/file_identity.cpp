#include "models/library/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hearth::library {
namespace {

FileIdentity identity_from(const struct stat& info) {
    return {static_cast<std::uint64_t>(info.st_size),
            info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
}

Error open_error(const std::string& path, int number) {
    const std::string reason = path + " cannot be opened: " + std::strerror(number);
    if (number == ENOENT || number == ENOTDIR || number == ELOOP)
        return {ErrorCode::not_found, reason};
    if (number == EACCES || number == EPERM) return {ErrorCode::forbidden, reason};
    // A socket has no reader (ENXIO); a name may be too long.
    if (number == ENXIO || number == ENAMETOOLONG) return {ErrorCode::bad_input, reason};
    return {ErrorCode::io_failed, reason};
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

Result<Descriptor> open_regular(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.get() < 0) return open_error(path, errno);
    struct stat info{};
    if (::fstat(file.get(), &info) != 0) return open_error(path, errno);
    if (!S_ISREG(info.st_mode)) return Error{ErrorCode::bad_input, path + " is not a regular file"};
    return file;
}

Result<FileIdentity> identity_of(int descriptor, const std::string& path) {
    struct stat info{};
    if (::fstat(descriptor, &info) != 0) return open_error(path, errno);
    return identity_from(info);
}

std::string_view to_string(FileState state) {
    switch (state) {
        case FileState::ok:
            return "ok";
        case FileState::missing:
            return "missing";
        case FileState::changed:
            return "changed";
    }
    return "";
}

FileState state_of(const PackageFile& file) {
    struct stat info{};
    // No import of ours makes a link in our own folder: one there leads to somebody else's file.
    const int looked =
        file.in_place ? ::stat(file.path.c_str(), &info) : ::lstat(file.path.c_str(), &info);
    if (looked != 0 || !S_ISREG(info.st_mode)) return FileState::missing;
    return identity_from(info) == file.identity ? FileState::ok : FileState::changed;
}

std::string complaint_about(const Package& package) {
    for (const PackageFile& file : package.files) {
        const std::string again = " Remove the model '" + package.id + "' and import it again.";
        switch (state_of(file)) {
            case FileState::ok:
                break;
            case FileState::missing:
                return "the file " + file.path + " is gone." + again;
            case FileState::changed:
                return "the file " + file.path + " is not the one that was imported." + again;
        }
    }
    return {};
}

}  // namespace hearth::library
