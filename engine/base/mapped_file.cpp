#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace hearth {
namespace {

Error file_error(ErrorCode code, const std::string& name, const std::string& what) {
    return Error{code, "cannot read " + name + ": " + what};
}

std::string last_system_error() { return std::generic_category().message(errno); }

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io_failed;
        return file_error(code, path, last_system_error());
    }
    auto mapped = from_descriptor(descriptor, path);
    ::close(descriptor);
    return mapped;
}

Result<MappedFile> MappedFile::from_descriptor(int descriptor, const std::string& name) {
    struct stat status = {};
    if (fstat(descriptor, &status) != 0)
        return file_error(ErrorCode::io_failed, name, last_system_error());
    if (!S_ISREG(status.st_mode))
        return file_error(ErrorCode::unsupported_format, name, "it is not a regular file");
    MappedFile mapped;
    if (status.st_size == 0) return mapped;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) return file_error(ErrorCode::io_failed, name, last_system_error());
    mapped.data_ = static_cast<const std::byte*>(memory);
    mapped.size_ = size;
    return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    // munmap takes a pointer to writable memory; nothing is written.
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace hearth
