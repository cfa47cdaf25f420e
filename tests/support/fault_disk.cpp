#include "tests/support/fault_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/check.h"
#include "tests/support/fault_vfs.h"

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;
using What = DiskStep::What;
using Kind = FaultDisk::Kind;

std::string path_of(int file) {
    std::array<char, 4096> text{};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::int64_t mtime_of(const struct stat& info) {
    return info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
}

std::string text_at(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The file layer on top of a FaultDisk. Nothing is really synced: that is what is simulated.
class RecordedFiles final : public FileSystem {
public:
    explicit RecordedFiles(FaultDisk& disk) : disk_(disk), real_(real_files()) {}

    int open(const std::string& path, int flags, mode_t mode) override {
        if (const int fault = disk_.before(Kind::open, path)) return -fault;
        struct stat info{};
        const bool existed = ::lstat(path.c_str(), &info) == 0;
        const int file = real_.open(path, flags, mode);
        if (file >= 0 && (flags & O_CREAT) != 0) disk_.opened(path, existed);
        if (file >= 0 && (flags & O_TRUNC) != 0) disk_.changed(file);
        return file;
    }
    ssize_t read(int file, std::span<std::byte> into) override {
        if (const int fault = disk_.before(Kind::read, path_of(file))) return -fault;
        return real_.read(file, into);
    }
    ssize_t write(int file, std::span<const std::byte> bytes) override {
        if (const int fault = disk_.before(Kind::write, path_of(file))) return -fault;
        const ssize_t put = real_.write(file, bytes);
        if (put > 0) disk_.changed(file);
        return put;
    }
    ssize_t copy_range(int from, std::int64_t& position, int to, std::size_t bytes) override {
        if (const int fault = disk_.before(Kind::write, path_of(to))) return -fault;
        const ssize_t copied = real_.copy_range(from, position, to, bytes);
        if (copied > 0) disk_.changed(to);
        return copied;
    }
    int clone(int from, int to) override {
        if (const int fault = disk_.before(Kind::other, path_of(to))) return -fault;
        const int result = real_.clone(from, to);
        if (result == 0) disk_.changed(to);
        return result;
    }
    int sync(int file) override {
        const std::string path = path_of(file);
        if (const int fault = disk_.before(Kind::sync, path)) return -fault;
        disk_.synced(path);
        return 0;
    }
    int link(int file, const std::string& name) override {
        if (const int fault = disk_.before(Kind::link, name)) return -fault;
        const int result = real_.link(file, name);
        if (result == 0) disk_.entered(name, disk_.inode_at(name));
        return result;
    }
    int rename(const std::string& from, const std::string& to) override {
        if (const int fault = disk_.before(Kind::rename, from)) return -fault;
        const int result = real_.rename(from, to);
        if (result != 0) return result;
        disk_.left(from);
        disk_.entered(to, disk_.inode_at(to));
        return 0;
    }
    int unlink(const std::string& path) override {
        if (const int fault = disk_.before(Kind::unlink, path)) return -fault;
        const int result = real_.unlink(path);
        if (result == 0) disk_.left(path);
        return result;
    }
    int lock(int file) override {
        if (const int fault = disk_.before(Kind::other, path_of(file))) return -fault;
        return real_.lock(file);
    }
    std::int64_t free_bytes(const std::string& folder) override {
        if (const int fault = disk_.before(Kind::other, folder)) return -fault;
        return disk_.free_bytes().value_or(real_.free_bytes(folder));
    }

private:
    FaultDisk& disk_;
    FileSystem& real_;
};

}  // namespace

FaultDisk::FaultDisk(std::string folder)
    : folder_(std::move(folder)), files_(std::make_unique<RecordedFiles>(*this)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (!entry.is_regular_file()) continue;
        const std::string path = entry.path();
        opened(path, false);
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        changed(file);
        ::close(file);
        synced(path);
        synced(path.substr(0, path.rfind('/')));
    }
    sync_names_.clear();
    first_step_ = log_.size();
}

FaultDisk::~FaultDisk() {
    if (vfs_) ::sqlite3_vfs_unregister(vfs_.get());
}

const char* FaultDisk::vfs() {
    if (!vfs_) vfs_ = make_fault_vfs(*this);
    return vfs_->zName;
}

void FaultDisk::set_fault(Fault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
    operations_ = 0;
}

int FaultDisk::before(Kind kind, const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!is_inside(path)) return 0;
    ++operations_;
    return fault_ ? fault_(kind, operations_, path) : 0;
}

bool FaultDisk::is_inside(const std::string& path) const { return path.starts_with(folder_ + "/"); }

void FaultDisk::record(DiskStep step) {
    const std::lock_guard lock(mutex_);
    if (recording_) log_.push_back(std::move(step));
}

void FaultDisk::acknowledge(const std::string& what) {
    record({What::promise, 0, 0, what, 0});
    if (promised_) promised_();
}

std::uint64_t FaultDisk::inode_at(const std::string& path) {
    const std::lock_guard lock(mutex_);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return 0;
    auto [place, is_new] = inodes_.try_emplace(info.st_ino, 0);
    if (is_new) place->second = ++last_inode_;
    return place->second;
}

void FaultDisk::opened(const std::string& path, bool existed) {
    const std::lock_guard lock(mutex_);
    struct stat info{};
    if (existed || !is_inside(path) || ::stat(path.c_str(), &info) != 0) return;
    inodes_[info.st_ino] = ++last_inode_;
    entered(path, last_inode_);
}

void FaultDisk::written(std::uint64_t inode, std::uint64_t offset, std::string bytes) {
    record({What::write, inode, offset, std::move(bytes), 0});
}

void FaultDisk::resized(std::uint64_t inode, std::uint64_t size) {
    record({What::resize, inode, size, {}, 0});
}

void FaultDisk::changed(int file) {
    const std::string path = path_of(file);
    if (!is_inside(path)) return;
    struct stat info{};
    HEARTH_CHECK(::fstat(file, &info) == 0);
    const std::lock_guard lock(mutex_);
    const std::uint64_t inode = inode_at(path);
    record({What::resize, inode, static_cast<std::uint64_t>(info.st_size), {}, mtime_of(info)});
    record({What::write, inode, 0, text_at(path), mtime_of(info)});
}

void FaultDisk::synced(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (path != folder_ && !is_inside(path)) return;
    const auto number = static_cast<int>(sync_names_.size());
    sync_names_.push_back(path);
    if (skipped_sync_ == number) {
        skipped_step_ = steps();
        return;
    }
    if (fs::is_directory(path))
        record({What::sync_folder, 0, 0, path, 0});
    else
        record({What::sync, inode_at(path), 0, {}, 0});
}

void FaultDisk::entered(const std::string& path, std::uint64_t inode) {
    if (is_inside(path)) record({What::name, inode, 0, path, 0});
}

void FaultDisk::left(const std::string& path) {
    if (is_inside(path)) record({What::unname, 0, 0, path, 0});
}

std::vector<std::string> FaultDisk::power_cut(std::size_t steps, std::uint32_t choice) {
    recording_ = false;
    DiskImage image;
    for (std::size_t i = 0; i < first_step_ + steps; ++i) image.apply(log_[i]);
    image.write_after_power_cut(folder_, choice);
    return image.promises();
}

}  // namespace hearth::testing
