// Decoding by the table of well-formed byte sequences (Unicode 15, table 3-7).
#include "engine/base/utf8.h"

#include "engine/base/check.h"

namespace hearth {
namespace {

struct Lead {
    std::uint8_t length;  // of the whole character; 0 when the byte begins none
    std::uint8_t second_min;
    std::uint8_t second_max;
    char32_t bits;  // of the lead byte
};

// The bounds of the second byte exclude overlong forms, surrogates and numbers above U+10FFFF.
Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, 0, 0, byte};
    if (byte < 0xC2) return {0, 0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF, byte & 0x1Fu};
    const char32_t low = byte & 0x0Fu;
    if (byte == 0xE0) return {3, 0xA0, 0xBF, low};
    if (byte == 0xED) return {3, 0x80, 0x9F, low};
    if (byte < 0xF0) return {3, 0x80, 0xBF, low};
    if (byte == 0xF0) return {4, 0x90, 0xBF, low};
    if (byte < 0xF4) return {4, 0x80, 0xBF, low};
    if (byte == 0xF4) return {4, 0x80, 0x8F, low};
    return {0, 0, 0, 0};
}

}  // namespace

Decoded decode_utf8(std::string_view text, std::size_t at) {
    HEARTH_DCHECK(at < text.size());
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    if (lead.length == 1) return {lead.bits, 1, true, false};
    if (lead.length == 0) return {kReplacementCharacter, 1, false, false};

    char32_t code = lead.bits;
    for (std::uint8_t i = 1; i < lead.length; ++i) {
        if (at + i == text.size()) return {kReplacementCharacter, i, false, true};
        const auto byte = static_cast<unsigned char>(text[at + i]);
        const unsigned min = i == 1 ? lead.second_min : 0x80u;
        const unsigned max = i == 1 ? lead.second_max : 0xBFu;
        if (byte < min || byte > max) return {kReplacementCharacter, i, false, false};
        code = (code << 6) | (byte & 0x3Fu);
    }
    return {code, lead.length, true, false};
}

std::optional<std::size_t> find_utf8_error(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        const Decoded next = decode_utf8(text, at);
        if (!next.valid) return at;
        at += next.length;
    }
    return std::nullopt;
}

std::string repair_utf8(std::string_view text) {
    std::string out;
    Utf8Assembler assembler;
    assembler.push(text, out);
    assembler.flush(out);
    return out;
}

void append_utf8(std::string& out, char32_t code) {
    const auto tail = [code](int shift) {
        return static_cast<char>(0x80u | ((code >> shift) & 0x3Fu));
    };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0u | (code >> 6));
        out += tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0u | (code >> 12));
        out += tail(6);
        out += tail(0);
    } else {
        out += static_cast<char>(0xF0u | (code >> 18));
        out += tail(12);
        out += tail(6);
        out += tail(0);
    }
}

void Utf8Assembler::push(std::string_view bytes, std::string& out) {
    held_ += bytes;
    std::size_t at = 0;
    while (at < held_.size()) {
        const Decoded next = decode_utf8(held_, at);
        if (next.truncated) break;
        if (next.valid) {
            out.append(held_, at, next.length);
        } else {
            out += kReplacementUtf8;
        }
        at += next.length;
    }
    held_.erase(0, at);
}

void Utf8Assembler::flush(std::string& out) {
    if (!held_.empty()) out += kReplacementUtf8;
    held_.clear();
}

}  // namespace hearth
