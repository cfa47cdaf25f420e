// Memory that only grows: scratch of the CPU backend, allocated before a parallel region and reused
// by all later ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"

namespace hearth::cpu {

class Arena {
public:
    // At least `bytes` at 64-byte alignment; what was inside is lost when it has to grow.
    Result<void> reserve(std::size_t bytes) {
        if (bytes <= buffer_.size()) return {};
        buffer_ = AlignedBuffer();
        // A quarter more, so that a prompt that grows by a few tokens does not allocate each time.
        HEARTH_TRY(buffer_, AlignedBuffer::allocate(bytes + bytes / 4));
        return {};
    }
    std::uint8_t* bytes() {
        void* data = buffer_.data();
        return static_cast<std::uint8_t*>(data);
    }
    float* floats() {
        void* data = buffer_.data();
        return static_cast<float*>(data);
    }

private:
    AlignedBuffer buffer_;
};

}  // namespace hearth::cpu
