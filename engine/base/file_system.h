// The file operations that decide whether data survives a crash, behind one interface: tests make
// any of them fail, and throw away what was not synced (tests/support/fault_disk.h).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/result.h"

namespace hearth {

// Each is the POSIX call of its name, from which it differs in one thing: a failure is the negative
// errno. Descriptors are real ones; whoever opens one closes it.
class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual int open(const std::string& path, int flags, mode_t mode) = 0;  // adds O_CLOEXEC
    virtual ssize_t read(int file, std::span<std::byte> into) = 0;
    virtual ssize_t write(int file, std::span<const std::byte> bytes) = 0;
    // Bytes copied inside the kernel from `position`, which moves on.
    virtual ssize_t copy_range(int from, std::int64_t& position, int to, std::size_t bytes) = 0;
    virtual int clone(int from, int to) = 0;                  // the whole file, sharing its blocks
    virtual int sync(int file) = 0;                           // of a file or of a folder
    virtual int link(int file, const std::string& name) = 0;  // another name for an open file
    virtual int rename(const std::string& from, const std::string& to) = 0;
    virtual int unlink(const std::string& path) = 0;
    virtual int lock(int file) = 0;  // exclusive, until it is closed; -EWOULDBLOCK: somebody has it
    virtual std::int64_t free_bytes(const std::string& folder) = 0;  // that we may fill
};

FileSystem& real_files();

// "PATH cannot be WHAT: reason; what to try". `number` is the errno. disk_full for ENOSPC and
// EDQUOT, else io_failed.
Error file_error(const std::string& path, const std::string& what, int number);

// The names in a folder are on disk when it returns.
Result<void> sync_folder(FileSystem& files, const std::string& folder);

// A folder (0700) of this user, made with its parents when it is not there. forbidden when it
// belongs to somebody else.
Result<void> make_private_folder(const std::string& folder);

}  // namespace hearth
