// Reads little-endian values from a span, never past its end. The first failure is an Error that
// names what was being read; nothing is allocated before the bytes for it are known to be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace hearth::gguf {

class Cursor {
public:
    explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::size_t position() const { return position_; }
    std::size_t left() const { return bytes_.size() - position_; }

    // A number of fixed width. `what` completes "the file ends inside …".
    template <typename T>
    Result<T> read(std::string_view what) {
        if (left() < sizeof(T)) return ends_inside(what);
        T value;
        std::memcpy(&value, bytes_.data() + position_, sizeof(T));
        position_ += sizeof(T);
        return value;
    }

    // A u64 length, then that many bytes; a view into the file.
    Result<std::string_view> read_string(std::string_view what, std::uint64_t limit);
    // A u64 count of items that take at least `item_bytes` (> 0) each: refused when it is over
    // `limit` or when the file is too short for that many.
    Result<std::uint64_t> read_count(std::string_view what, std::uint64_t item_bytes,
                                     std::uint64_t limit);

private:
    Error ends_inside(std::string_view what) const;

    std::span<const std::byte> bytes_;
    std::size_t position_ = 0;
};

}  // namespace hearth::gguf
