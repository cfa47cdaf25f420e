// A disk that can lose what was not synced. Work runs on a real folder while every change is
// recorded; afterwards the folder can be made into what a power cut after any recorded step might
// have left: sectors of 512 bytes that were written and not synced are there or not, and so are
// names of files, each by a seeded choice. Operations can also be made to fail, and syncs to lie.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/file_system.h"
#include "tests/support/disk_image.h"

struct sqlite3_vfs;

namespace hearth::testing {

class FaultDisk {
public:
    // Everything below `folder` as it is counts as durable. Folders made later are not noticed.
    explicit FaultDisk(std::string folder);
    ~FaultDisk();
    FaultDisk(const FaultDisk&) = delete;
    FaultDisk& operator=(const FaultDisk&) = delete;

    const std::string& folder() const { return folder_; }
    FileSystem& files() { return *files_; }
    const char* vfs();  // the name of a SQLite VFS that works on this disk; one disk at a time

    // Asked before each operation; an errno makes it fail, 0 lets it pass. `number` counts from 1.
    enum class Kind : std::uint8_t { open, read, write, sync, rename, unlink, link, other };
    using Fault = std::function<int(Kind kind, int number, const std::string& path)>;
    void set_fault(Fault fault);
    int operations() const { return operations_; }  // since set_fault

    // What the disk says is free; empty: the truth.
    void set_free_bytes(std::optional<std::int64_t> bytes) { free_bytes_ = bytes; }
    std::optional<std::int64_t> free_bytes() const { return free_bytes_; }

    // The n-th sync (0 is the first) says that it succeeded and does nothing.
    void skip_sync(int number) { skipped_sync_ = number; }
    std::size_t skipped_step() const { return skipped_step_; }  // how many steps came before it
    const std::vector<std::string>& syncs() const { return sync_names_; }  // what was synced

    // A promise given to a client after everything recorded so far.
    void acknowledge(const std::string& what);
    void on_promise(std::function<void()> told) { promised_ = std::move(told); }

    std::size_t steps() const { return log_.size() - first_step_; }
    // Makes the folder what a power cut after the first `steps` steps may leave (disk_image.h
    // explains `choice`). Returns what had been acknowledged by then. Nothing is recorded any more.
    std::vector<std::string> power_cut(std::size_t steps, std::uint32_t choice);

    // For the two front ends, the file layer and the VFS. Paths outside the folder are ignored.
    int before(Kind kind, const std::string& path);  // 0, or the errno to fail with
    void opened(const std::string& path, bool existed);
    void written(std::uint64_t inode, std::uint64_t offset, std::string bytes);
    void resized(std::uint64_t inode, std::uint64_t size);
    void changed(int file);  // through the kernel: its whole content counts as written
    void synced(const std::string& path);
    void entered(const std::string& path, std::uint64_t inode);
    void left(const std::string& path);
    std::uint64_t inode_at(const std::string& path);  // our own number: the system's are used anew

private:
    void record(DiskStep step);
    bool is_inside(const std::string& path) const;

    std::string folder_;
    std::recursive_mutex mutex_;
    std::vector<DiskStep> log_;
    std::size_t first_step_ = 0;
    std::map<std::uint64_t, std::uint64_t> inodes_;  // the system's number → ours
    std::uint64_t last_inode_ = 0;
    Fault fault_;
    int operations_ = 0;
    std::optional<std::int64_t> free_bytes_;
    std::optional<int> skipped_sync_;
    std::size_t skipped_step_ = 0;
    std::vector<std::string> sync_names_;
    std::function<void()> promised_;
    bool recording_ = true;
    std::unique_ptr<FileSystem> files_;
    std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace hearth::testing
