#include "engine/gguf/cursor.h"

#include "engine/gguf/text.h"

namespace hearth::gguf {

std::string quoted(std::string_view name) {
    constexpr std::size_t kShown = 80;
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "'";
    for (const char c : name.substr(0, kShown)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            out += c;
        } else {
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15U];
        }
    }
    if (name.size() > kShown) out += "…";
    return out + "'";
}

Error Cursor::ends_inside(std::string_view what) const {
    return Error{ErrorCode::model_corrupt, "the model file ends inside " + std::string(what) +
                                               " (byte " + std::to_string(position_) +
                                               "); it is cut short, fetch it again"};
}

Result<std::uint64_t> Cursor::read_count(std::string_view what, std::uint64_t item_bytes,
                                         std::uint64_t limit) {
    HEARTH_TRY(const auto count, read<std::uint64_t>(what));
    if (count > limit)
        return Error{ErrorCode::model_corrupt,
                     "the model file is damaged: the count or length of " + std::string(what) +
                         " is " + std::to_string(count) + ", the limit is " +
                         std::to_string(limit)};
    if (count > left() / item_bytes) return ends_inside(what);
    return count;
}

Result<std::string_view> Cursor::read_string(std::string_view what, std::uint64_t limit) {
    HEARTH_TRY(const auto length, read_count(what, 1, limit));
    // char may alias anything: a view of the file's bytes as text.
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + position_);
    position_ += length;
    return std::string_view(begin, length);
}

}  // namespace hearth::gguf
