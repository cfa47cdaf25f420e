#include "engine/base/aligned_buffer.h"

#include <sys/mman.h>

#include <string>
#include <utility>

namespace hearth {

Result<AlignedBuffer> AlignedBuffer::allocate(std::size_t bytes) {
    AlignedBuffer buffer;
    if (bytes == 0) return buffer;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return Error{ErrorCode::no_memory,
                     "could not allocate " + std::to_string(bytes) +
                         " bytes; close other programs or use a smaller model"};
    buffer.data_ = static_cast<std::byte*>(memory);
    buffer.size_ = bytes;
    return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

AlignedBuffer::~AlignedBuffer() {
    if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace hearth
