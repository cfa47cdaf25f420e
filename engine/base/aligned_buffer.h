// Owning host memory, aligned to 64 bytes (one cache line, one 512-bit vector), zeroed by the
// system on first touch.
#pragma once

#include <cstddef>
#include <span>

#include "engine/base/result.h"

namespace hearth {

class AlignedBuffer {
public:
    AlignedBuffer() = default;
    // Reserves address space; pages cost memory when they are first written. Fails with no_memory.
    static Result<AlignedBuffer> allocate(std::size_t bytes);

    AlignedBuffer(AlignedBuffer&& other) noexcept;
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
    ~AlignedBuffer();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::span<std::byte> bytes() { return {data_, size_}; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hearth
