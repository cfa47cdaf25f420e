#include "ipc/protocol/text.h"

#include <cstdint>

namespace hearth::protocol {
namespace {

struct Lead {
    std::size_t length;  // bytes of the character; 0: not a leading byte
    std::uint8_t low;    // range of the second byte (Unicode 15, table 3-7)
    std::uint8_t high;
};

Lead lead_of(std::uint8_t byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte < 0xF0) return {3, 0x80, 0xBF};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte < 0xF4) return {4, 0x80, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

// Bytes of the character that starts at `at`; 0 when none does.
std::size_t character_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const Lead lead = lead_of(byte(at));
    if (lead.length < 2) return lead.length;
    if (text.size() - at < lead.length) return 0;
    if (byte(at + 1) < lead.low || byte(at + 1) > lead.high) return 0;
    for (std::size_t i = 2; i < lead.length; ++i)
        if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    return lead.length;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = character_at(text, at);
        if (length == 0) return at;
        at += length;
    }
    return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view bytes) {
    std::string text;
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::size_t length = character_at(bytes, at);
        text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(at, length);
        at += length == 0 ? 1 : length;
    }
    return text;
}

}  // namespace hearth::protocol
