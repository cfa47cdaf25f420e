// Bytes to frames and back. Nothing of JSON: that is codec.cpp.
#include "ipc/worker/frames.h"

#include <concepts>

#include "engine/base/check.h"

namespace hearth::wire {
namespace {

template <std::unsigned_integral T>
void append_little(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
    }
}

template <std::unsigned_integral T>
T read_little(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return static_cast<T>(value);
}

}  // namespace

std::string encode_frame(Kind kind, std::uint64_t request, std::string_view payload) {
    HEARTH_CHECK(payload.size() <= kMaxPayload);
    std::string out;
    out.reserve(kHeaderBytes + payload.size());
    append_little(out, static_cast<std::uint32_t>(payload.size()));
    append_little(out, static_cast<std::uint16_t>(kind));
    append_little(out, request);
    out.append(payload);
    return out;
}

void FrameReader::feed(std::string_view bytes) {
    if (used_ == buffer_.size()) {
        buffer_.clear();
        used_ = 0;
        // A frame of many megabytes must not stay allocated for the life of the process.
        if (buffer_.capacity() > kMiB) buffer_.shrink_to_fit();
    } else if (used_ > buffer_.size() / 2) {
        buffer_.erase(0, used_);
        used_ = 0;
    }
    buffer_.append(bytes);
}

Result<std::optional<Frame>> FrameReader::next() {
    const std::string_view rest = std::string_view(buffer_).substr(used_);
    if (rest.size() < kHeaderBytes) return std::optional<Frame>();
    const std::size_t length = read_little<std::uint32_t>(rest);
    if (length > max_payload_) {
        return Error{ErrorCode::too_large, "a frame of " + std::to_string(length) +
                                               " bytes; the most is " +
                                               std::to_string(max_payload_)};
    }
    if (rest.size() - kHeaderBytes < length) return std::optional<Frame>();
    Frame frame;
    frame.kind = read_little<std::uint16_t>(rest.substr(4));
    frame.request = read_little<std::uint64_t>(rest.substr(6));
    frame.payload = rest.substr(kHeaderBytes, length);
    used_ += kHeaderBytes + length;
    return std::optional<Frame>(std::move(frame));
}

}  // namespace hearth::wire
