#include "models/library/place.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "engine/base/units.h"
#include "models/library/sha256.h"

namespace hearth::library {
namespace {

constexpr std::size_t kChunk = 4 * kMiB;  // a stop is seen after each

struct CopyJob {
    const std::string& path;  // of the copy
    const std::atomic<bool>& stop;
};

Error stopped() { return {ErrorCode::cancelled, "the import was stopped"}; }

Result<void> check_unchanged(const HashedFile& source) {
    HEARTH_TRY(const FileIdentity now, identity_of(source.descriptor.get(), source.file.path));
    if (now != source.file.identity)
        return Error{ErrorCode::io_failed,
                     source.file.path +
                         " changed while it was read; import it again when whoever "
                         "writes it has finished"};
    return {};
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

// What somebody has just written may not be on disk yet, and we are about to say that it is. A
// folder that we may pass but not list cannot be synced: its owner's business.
Result<void> sync_source(FileSystem& files, const HashedFile& source) {
    if (const int synced = files.sync(source.descriptor.get()); synced < 0)
        return file_error(source.file.path, "written to disk", -synced);
    const Descriptor folder(files.open(parent_of(source.file.path), O_RDONLY | O_DIRECTORY, 0));
    if (folder.get() < 0) return {};
    if (const int synced = files.sync(folder.get()); synced == -EIO)
        return file_error(source.file.path, "written to disk", EIO);
    return {};
}

// Empty when hard links do not work here: another file system, or one without them.
Result<std::string> try_hardlink(FileSystem& files, const HashedFile& source,
                                 const std::string& target) {
    // The data must be on disk before a name of ours points to it.
    if (const int synced = files.sync(source.descriptor.get()); synced < 0)
        return file_error(source.file.path, "written to disk", -synced);
    if (const int gone = files.unlink(target); gone < 0 && gone != -ENOENT)
        return file_error(target, "replaced", -gone);
    if (files.link(source.descriptor.get(), target) < 0) return std::string();
    return std::string("hardlink");
}

// Through our own memory: kernels refuse copy_file_range between different file systems.
Result<void> copy_by_hand(FileSystem& files, const HashedFile& source, const Descriptor& to,
                          const std::string& path) {
    std::vector<std::byte> buffer(kChunk);
    const ssize_t got = files.read(source.descriptor.get(), buffer);
    if (got < 0) return file_error(source.file.path, "read", static_cast<int>(-got));
    std::span<const std::byte> rest(buffer.data(), static_cast<std::size_t>(got));
    while (!rest.empty()) {
        const ssize_t put = files.write(to.get(), rest);
        if (put < 0 && put != -EINTR) return file_error(path, "written", static_cast<int>(-put));
        if (put > 0) rest = rest.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

Result<void> copy_bytes(FileSystem& files, const HashedFile& source, const Descriptor& to,
                        const CopyJob& job) {
    std::int64_t position = 0;
    const auto size = static_cast<std::int64_t>(source.file.identity.size);
    while (position < size) {
        if (job.stop) return stopped();
        const ssize_t copied =
            files.copy_range(source.descriptor.get(), position, to.get(), kChunk);
        if (copied == -EINTR) continue;
        if (copied == -EXDEV || copied == -EINVAL || copied == -ENOSYS || copied == -EOPNOTSUPP) {
            ::lseek(source.descriptor.get(), position, SEEK_SET);
            HEARTH_TRY_VOID(copy_by_hand(files, source, to, job.path));
            const std::int64_t there = ::lseek(source.descriptor.get(), 0, SEEK_CUR);
            if (there == position) return check_unchanged(source);
            position = there;
            continue;
        }
        if (copied < 0) return file_error(job.path, "written", static_cast<int>(-copied));
        if (copied == 0) return check_unchanged(source);  // shorter than it was
    }
    return {};
}

// Better said with figures before than in the middle.
Result<void> check_space(FileSystem& files, const HashedFile& source, const std::string& folder) {
    const std::int64_t free = files.free_bytes(folder);
    if (free < 0 || source.file.identity.size <= static_cast<std::uint64_t>(free)) return {};
    return Error{ErrorCode::disk_full,
                 "a copy of " + source.file.path + " needs " +
                     std::to_string(source.file.identity.size / kMiB) + " MiB in " + folder +
                     ", and " + std::to_string(static_cast<std::uint64_t>(free) / kMiB) +
                     " MiB are free; free some disk space, or use \"in_place\""};
}

Result<std::string> copy_file(FileSystem& files, const HashedFile& source,
                              const PlaceRequest& request, const std::atomic<bool>& stop) {
    const std::string growing = request.folders.partial + "/" + request.file_name;
    const std::string target = request.folders.models + "/" + request.file_name;
    const Descriptor file(
        files.open(growing, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (file.get() < 0) return file_error(growing, "made", -file.get());
    const bool cloned = files.clone(source.descriptor.get(), file.get()) == 0;
    const auto finish = [&]() -> Result<void> {
        if (!cloned) {
            HEARTH_TRY_VOID(check_space(files, source, request.folders.partial));
            HEARTH_TRY_VOID(copy_bytes(files, source, file, {growing, stop}));
        }
        HEARTH_TRY_VOID(check_unchanged(source));
        if (const int synced = files.sync(file.get()); synced < 0)
            return file_error(growing, "written to disk", -synced);
        if (const int moved = files.rename(growing, target); moved < 0)
            return file_error(growing, "moved to " + target, -moved);
        return {};
    };
    if (auto done = finish(); !done) {
        files.unlink(growing);
        return std::move(done).error();
    }
    return std::string(cloned ? "reflink" : "copy");
}

// The file has its name in our folder when this returns a word, or none when it returns an error.
Result<std::string> give_name(FileSystem& files, const HashedFile& source,
                              const PlaceRequest& request, const std::atomic<bool>& stop) {
    const std::string target = request.folders.models + "/" + request.file_name;
    if (request.placement != Placement::copy) {
        HEARTH_TRY(const std::string how, try_hardlink(files, source, target));
        if (!how.empty()) return how;
    }
    if (request.placement == Placement::hardlink)
        return Error{ErrorCode::bad_input, source.file.path + " cannot be hard-linked into " +
                                               request.folders.models +
                                               "; use \"copy\" or \"in_place\""};
    return copy_file(files, source, request, stop);
}

}  // namespace

Result<HashedFile> hash_file(FileSystem& files, const std::string& path,
                             const std::atomic<bool>& stop) {
    HEARTH_TRY(Descriptor descriptor, open_regular(path));
    HEARTH_TRY(const FileIdentity identity, identity_of(descriptor.get(), path));
    ::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    Sha256 hash;
    std::vector<std::byte> buffer(kChunk);
    for (;;) {
        if (stop) return stopped();
        const ssize_t got = files.read(descriptor.get(), buffer);
        if (got == -EINTR) continue;
        if (got < 0) return file_error(path, "read", static_cast<int>(-got));
        if (got == 0) break;
        hash.update({buffer.data(), static_cast<std::size_t>(got)});
    }
    HashedFile hashed{std::move(descriptor), {path, identity, hash.finish(), true}};
    HEARTH_TRY_VOID(check_unchanged(hashed));
    return hashed;
}

Result<Placed> place_file(FileSystem& files, const HashedFile& source, const PlaceRequest& request,
                          const std::atomic<bool>& stop) {
    if (request.placement == Placement::in_place) {
        HEARTH_TRY_VOID(sync_source(files, source));
        return Placed{source.file, "in_place"};
    }
    HEARTH_TRY(const std::string how, give_name(files, source, request, stop));
    const std::string target = request.folders.models + "/" + request.file_name;
    const auto finish = [&]() -> Result<Placed> {
        HEARTH_TRY_VOID(sync_folder(files, request.folders.models));
        // Else the name under which it grew may come back, when nobody remembers it any more.
        if (how != "hardlink") HEARTH_TRY_VOID(sync_folder(files, request.folders.partial));
        Placed placed{source.file, how};
        placed.file.path = target;
        placed.file.in_place = false;
        HEARTH_TRY(const Descriptor file, open_regular(target));
        HEARTH_TRY(placed.file.identity, identity_of(file.get(), target));
        return placed;
    };
    Result<Placed> placed = finish();
    if (!placed) files.unlink(target);
    return placed;
}

Result<void> make_folders(const Folders& folders) {
    HEARTH_TRY_VOID(make_private_folder(folders.models));
    return make_private_folder(folders.partial);
}

Result<void> delete_files(FileSystem& files, const Package& package) {
    for (const PackageFile& file : package.files) {
        if (file.in_place) continue;
        const int gone = files.unlink(file.path);
        if (gone < 0 && gone != -ENOENT) return file_error(file.path, "deleted", -gone);
        if (gone == 0) HEARTH_TRY_VOID(sync_folder(files, parent_of(file.path)));
    }
    return {};
}

}  // namespace hearth::library
