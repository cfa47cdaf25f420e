#include "tests/support/fault_vfs.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace hearth::testing {
namespace {

using Kind = FaultDisk::Kind;

struct Tracked {
    FaultDisk* disk = nullptr;
    std::string path;  // empty: a temporary file, not ours to follow
    std::uint64_t inode = 0;
    bool sync_folder_too = false;  // as the default VFS does at the first sync of a journal
};

// What SQLite allocates for us: its own part, ours, then the file of the VFS underneath.
struct FaultFile {
    sqlite3_file base;
    Tracked* tracked;
};

// reinterpret_cast: this is how SQLite's file objects are extended.
FaultFile& ours(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }
sqlite3_file* real(sqlite3_file* file) {
    // reinterpret_cast: the file underneath follows in the same memory.
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(FaultFile));
}
const sqlite3_io_methods& under(sqlite3_file* file) { return *real(file)->pMethods; }

int fault_at(Kind kind, sqlite3_file* file) {
    const Tracked& tracked = *ours(file).tracked;
    return tracked.path.empty() ? 0 : tracked.disk->before(kind, tracked.path);
}

int close_file(sqlite3_file* file) {
    const int code = real(file)->pMethods != nullptr ? under(file).xClose(real(file)) : SQLITE_OK;
    delete ours(file).tracked;
    ours(file).tracked = nullptr;
    return code;
}

int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
    if (fault_at(Kind::read, file) != 0) return SQLITE_IOERR_READ;
    return under(file).xRead(real(file), into, size, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    if (const int fault = fault_at(Kind::write, file))
        return fault == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    const int code = under(file).xWrite(real(file), bytes, size, offset);
    const Tracked& tracked = *ours(file).tracked;
    if (code == SQLITE_OK && !tracked.path.empty())
        tracked.disk->written(tracked.inode, static_cast<std::uint64_t>(offset),
                              {static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    return code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    if (fault_at(Kind::write, file) != 0) return SQLITE_IOERR_TRUNCATE;
    const int code = under(file).xTruncate(real(file), size);
    const Tracked& tracked = *ours(file).tracked;
    if (code == SQLITE_OK && !tracked.path.empty())
        tracked.disk->resized(tracked.inode, static_cast<std::uint64_t>(size));
    return code;
}

int sync_file(sqlite3_file* file, int /*flags*/) {
    if (fault_at(Kind::sync, file) != 0) return SQLITE_IOERR_FSYNC;
    Tracked& tracked = *ours(file).tracked;
    if (tracked.path.empty()) return SQLITE_OK;
    tracked.disk->synced(tracked.path);
    if (std::exchange(tracked.sync_folder_too, false))
        tracked.disk->synced(tracked.path.substr(0, tracked.path.rfind('/')));
    return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return under(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) { return under(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return under(file).xUnlock(real(file), level); }
int check_reserved(sqlite3_file* file, int* result) {
    return under(file).xCheckReservedLock(real(file), result);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
    return under(file).xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) { return under(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return under(file).xDeviceCharacteristics(real(file)); }

// Version 1: no shared memory and no mapping, neither of which an exclusive connection needs.
const sqlite3_io_methods kMethods = {
    1,         close_file,  read_file,      write_file,   truncate_file, sync_file,       file_size,
    lock_file, unlock_file, check_reserved, file_control, sector_size,   characteristics, nullptr,
    nullptr,   nullptr,     nullptr,        nullptr,      nullptr};

FaultDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultDisk*>(vfs->pAppData); }
sqlite3_vfs* default_vfs() { return ::sqlite3_vfs_find("unix"); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    file->pMethods = nullptr;
    FaultDisk& disk = disk_of(vfs);
    const std::string path = name == nullptr ? "" : name;
    if (!path.empty() && disk.before(Kind::open, path) != 0) return SQLITE_CANTOPEN;
    struct stat info{};
    const bool existed = path.empty() || ::stat(path.c_str(), &info) == 0;
    const int code = default_vfs()->xOpen(default_vfs(), name, real(file), flags, out);
    if (code != SQLITE_OK) return code;
    if (!path.empty()) disk.opened(path, existed);
    constexpr int kJournals =
        SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    ours(file).tracked =
        new Tracked{&disk, path, path.empty() ? 0 : disk.inode_at(path), (flags & kJournals) != 0};
    file->pMethods = &kMethods;
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    FaultDisk& disk = disk_of(vfs);
    const std::string path = name;
    if (disk.before(Kind::unlink, path) != 0) return SQLITE_IOERR_DELETE;
    const int code = default_vfs()->xDelete(default_vfs(), name, 0);
    if (code != SQLITE_OK) return code;
    disk.left(path);
    if (sync_folder != 0) disk.synced(path.substr(0, path.rfind('/')));
    return SQLITE_OK;
}

int access_file(sqlite3_vfs*, const char* name, int flags, int* result) {
    return default_vfs()->xAccess(default_vfs(), name, flags, result);
}
int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    return default_vfs()->xFullPathname(default_vfs(), name, size, out);
}
int randomness(sqlite3_vfs*, int size, char* out) {
    return default_vfs()->xRandomness(default_vfs(), size, out);
}
int pause(sqlite3_vfs*, int microseconds) {
    return default_vfs()->xSleep(default_vfs(), microseconds);
}
int current_time(sqlite3_vfs*, double* days) {
    return default_vfs()->xCurrentTime(default_vfs(), days);
}
int last_error(sqlite3_vfs*, int size, char* out) {
    return default_vfs()->xGetLastError(default_vfs(), size, out);
}

}  // namespace

std::unique_ptr<sqlite3_vfs> make_fault_vfs(FaultDisk& disk) {
    ::sqlite3_initialize();
    auto vfs = std::make_unique<sqlite3_vfs>();
    vfs->iVersion = 1;
    vfs->szOsFile = static_cast<int>(sizeof(FaultFile)) + default_vfs()->szOsFile;
    vfs->mxPathname = default_vfs()->mxPathname;
    vfs->zName = "hearth-fault-disk";
    vfs->pAppData = &disk;
    vfs->xOpen = open_file;
    vfs->xDelete = delete_file;
    vfs->xAccess = access_file;
    vfs->xFullPathname = full_path;
    vfs->xRandomness = randomness;
    vfs->xSleep = pause;
    vfs->xCurrentTime = current_time;
    vfs->xGetLastError = last_error;
    ::sqlite3_vfs_register(vfs.get(), 0);
    return vfs;
}

}  // namespace hearth::testing
