// UTF-8: validation with the place of the error, decoding, and assembly of a stream of bytes into
// whole characters. Ill-formed bytes follow the Unicode rule of maximal subparts: each longest run
// that could begin a character, and each byte that can begin none, is one error (Unicode 15,
// section 3.9, "U+FFFD substitution of maximal subparts").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

constexpr char32_t kReplacementCharacter = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

struct Decoded {
    char32_t code;        // U+FFFD when not valid
    std::uint8_t length;  // bytes consumed, 1 to 4; of an error: its maximal subpart
    bool valid;
    bool truncated;  // not valid only because the text ends: more bytes could complete it
};

// The character at `at`, which must be below text.size().
Decoded decode_utf8(std::string_view text, std::size_t at);

// The offset of the first byte of the first ill-formed sequence; empty when the text is valid.
std::optional<std::size_t> find_utf8_error(std::string_view text);

// The text with U+FFFD for each error: what must pass as UTF-8 although foreign bytes are in it.
std::string repair_utf8(std::string_view text);

// `code` must be a Unicode scalar value: at most U+10FFFF and no surrogate.
void append_utf8(std::string& out, char32_t code);

// Bytes in, whole characters out. What comes out depends on the joined bytes only, not on how they
// were cut.
class Utf8Assembler {
public:
    // Appends to `out` every character that is complete; errors become U+FFFD.
    void push(std::string_view bytes, std::string& out);
    // Appends U+FFFD when the stream ended inside a character; the assembler is empty afterwards.
    void flush(std::string& out);
    bool pending() const { return !held_.empty(); }

private:
    std::string held_;  // at most 3 bytes: the start of a character
};

}  // namespace hearth
