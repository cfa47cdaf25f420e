// A read-only mapping of a regular file. A file that shrinks while mapped raises SIGBUS on access:
// only the worker maps.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/base/result.h"

namespace hearth {

class MappedFile {
public:
    MappedFile() = default;
    // Refuses everything but regular files without blocking on a FIFO or device.
    static Result<MappedFile> open(const std::string& path);
    // Maps an open descriptor, which stays the caller's. `name` is for error messages.
    static Result<MappedFile> from_descriptor(int descriptor, const std::string& name);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hearth
