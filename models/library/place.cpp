#include "models/library/place.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "engine/base/units.h"
#include "models/library/sha256.h"

namespace hearth::library {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = 4 * kMiB;  // a stop is seen after each

Error file_error(const std::string& what, const std::string& path, int number) {
    std::string message = path + " cannot be " + what + ": " + std::strerror(number);
    if (number == ENOSPC || number == EDQUOT) message += "; free some disk space and try again";
    return {ErrorCode::io_failed, message};
}

Error stopped() { return {ErrorCode::cancelled, "the import was stopped"}; }

Result<void> sync_directory(const std::string& path) {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0 || ::fsync(directory.get()) != 0)
        return file_error("written to disk", path, errno);
    return {};
}

Result<void> check_unchanged(const HashedFile& source) {
    HEARTH_TRY(const FileIdentity now, identity_of(source.descriptor.get(), source.file.path));
    if (now != source.file.identity)
        return Error{ErrorCode::io_failed,
                     source.file.path +
                         " changed while it was read; import it again when whoever "
                         "writes it has finished"};
    return {};
}

// Empty when hard links do not work here: another file system, or one without them.
Result<std::string> try_hardlink(const HashedFile& source, const std::string& target) {
    // The data must be on disk before a name of ours points to it.
    if (::fsync(source.descriptor.get()) != 0)
        return file_error("written to disk", source.file.path, errno);
    // Through the descriptor, so that the very file that was hashed gets the name.
    const std::string link = "/proc/self/fd/" + std::to_string(source.descriptor.get());
    ::unlink(target.c_str());
    if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return std::string("hardlink");
    return std::string();
}

Result<void> copy_bytes(const HashedFile& source, int to, const std::string& path,
                        const std::atomic<bool>& stop) {
    loff_t from = 0;
    while (static_cast<std::uint64_t>(from) < source.file.identity.size) {
        if (stop) return stopped();
        const ssize_t copied =
            ::copy_file_range(source.descriptor.get(), &from, to, nullptr, kChunk, 0);
        if (copied < 0 && errno == EINTR) continue;
        if (copied < 0) return file_error("written", path, errno);
        if (copied == 0) return check_unchanged(source);  // shorter than it was
    }
    return {};
}

Result<std::string> copy_file(const HashedFile& source, const PlaceRequest& request,
                              const std::atomic<bool>& stop) {
    const std::string growing = request.folders.partial + "/" + request.file_name;
    const std::string target = request.folders.models + "/" + request.file_name;
    const Descriptor file(
        ::open(growing.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return file_error("made", growing, errno);
    const bool cloned = ::ioctl(file.get(), FICLONE, source.descriptor.get()) == 0;
    const auto finish = [&]() -> Result<void> {
        if (!cloned) HEARTH_TRY_VOID(copy_bytes(source, file.get(), growing, stop));
        HEARTH_TRY_VOID(check_unchanged(source));
        if (::fsync(file.get()) != 0) return file_error("written to disk", growing, errno);
        if (::rename(growing.c_str(), target.c_str()) != 0)
            return file_error("moved to " + target, growing, errno);
        return {};
    };
    if (auto done = finish(); !done) {
        ::unlink(growing.c_str());
        return std::move(done).error();
    }
    return std::string(cloned ? "reflink" : "copy");
}

}  // namespace

Result<HashedFile> hash_file(const std::string& path, const std::atomic<bool>& stop) {
    HEARTH_TRY(Descriptor descriptor, open_regular(path));
    HEARTH_TRY(const FileIdentity identity, identity_of(descriptor.get(), path));
    ::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    Sha256 hash;
    std::vector<std::byte> buffer(kChunk);
    for (;;) {
        if (stop) return stopped();
        const ssize_t got = ::read(descriptor.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_error("read", path, errno);
        if (got == 0) break;
        hash.update({buffer.data(), static_cast<std::size_t>(got)});
    }
    HashedFile hashed{std::move(descriptor), {path, identity, hash.finish(), true}};
    HEARTH_TRY_VOID(check_unchanged(hashed));
    return hashed;
}

Result<Placed> place_file(const HashedFile& source, const PlaceRequest& request,
                          const std::atomic<bool>& stop) {
    if (request.placement == Placement::in_place) return Placed{source.file, "in_place"};
    const std::string target = request.folders.models + "/" + request.file_name;
    std::string how;
    if (request.placement != Placement::copy) {
        HEARTH_TRY(how, try_hardlink(source, target));
    }
    if (how.empty() && request.placement == Placement::hardlink)
        return Error{ErrorCode::bad_input, source.file.path + " cannot be hard-linked into " +
                                               request.folders.models +
                                               "; use \"copy\" or \"in_place\""};
    if (how.empty()) {
        HEARTH_TRY(how, copy_file(source, request, stop));
    }
    HEARTH_TRY_VOID(sync_directory(request.folders.models));
    Placed placed{source.file, how};
    placed.file.path = target;
    placed.file.in_place = false;
    HEARTH_TRY(const Descriptor file, open_regular(target));
    HEARTH_TRY(placed.file.identity, identity_of(file.get(), target));
    return placed;
}

Result<void> make_folders(const Folders& folders) {
    std::error_code problem;
    for (const std::string& folder : {folders.models, folders.partial}) {
        fs::create_directories(folder, problem);
        if (!problem) fs::permissions(folder, fs::perms::owner_all, problem);
        if (problem)
            return Error{ErrorCode::io_failed, folder + " cannot be made: " + problem.message()};
    }
    return {};
}

Result<void> clear_partial(const Folders& folders) {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folders.partial, problem)) {
        fs::remove(entry.path(), problem);
        if (problem) break;
    }
    if (problem)
        return Error{ErrorCode::io_failed,
                     folders.partial + " cannot be emptied: " + problem.message()};
    return {};
}

Result<void> delete_files(const Package& package) {
    for (const PackageFile& file : package.files)
        if (!file.in_place && ::unlink(file.path.c_str()) != 0 && errno != ENOENT)
            return file_error("deleted", file.path, errno);
    return {};
}

}  // namespace hearth::library
