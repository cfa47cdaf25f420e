#include "engine/gguf/guess_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace hearth::gguf {
namespace {

using std::string_view_literals::operator""sv;

struct Signature {
    std::string_view start;
    std::string_view meaning;
};

// The old GGML magics are 32-bit numbers written little-endian, hence the reversed letters.
constexpr std::array kSignatures = {
    Signature{"PK\x03\x04"sv,
              "it looks like a zip archive (perhaps a PyTorch checkpoint or a Python wheel)"},
    Signature{"PK\x05\x06"sv, "it looks like an empty zip archive"},
    Signature{"lmgg"sv, "it looks like an old GGML file (magic ggml); convert the model again"},
    Signature{"fmgg"sv, "it looks like an old GGML file (magic ggmf); convert the model again"},
    Signature{"tjgg"sv, "it looks like an old GGML file (magic ggjt); convert the model again"},
    Signature{"algg"sv, "it looks like an old GGML adapter (magic ggla)"},
    Signature{"\x7f"
              "ELF"sv,
              "it looks like a program (ELF)"},
    Signature{"\x1f\x8b"sv, "it looks like a gzip file"},
    Signature{"\x28\xb5\x2f\xfd"sv, "it looks like a zstd file"},
    Signature{"\x89HDF"sv, "it looks like an HDF5 file"},
    Signature{"%PDF"sv, "it looks like a PDF document"},
    Signature{"version https://git-lfs"sv,
              "it is a Git LFS pointer; the model itself has not been fetched"},
};

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

// A pickle starts with opcode PROTO (0x80) and a protocol number of 2 to 5.
bool is_pickle(std::string_view head) {
    return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

// A u64 header length and the opening brace of a JSON object.
bool is_safetensors(std::string_view head) {
    return head.size() > 9 && head[8] == '{' && head.substr(5, 3) == "\0\0\0"sv;
}

}  // namespace

std::string guess_format(std::span<const std::byte> bytes) {
    if (bytes.empty()) return "it is empty";
    constexpr std::size_t kHead = 64;
    // char may alias anything: a view of the file's first bytes as text.
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                                std::min(bytes.size(), kHead));
    for (const Signature& signature : kSignatures)
        if (head.starts_with(signature.start)) return std::string(signature.meaning);
    if (is_pickle(head)) return "it looks like a Python pickle (a PyTorch checkpoint)";
    if (is_safetensors(head)) return "it looks like a safetensors file";

    const std::size_t text_start = head.find_first_not_of(" \t\r\n");
    if (text_start == std::string_view::npos) return "it holds only blanks";
    const std::string text = lower(head.substr(text_start));
    if (text.starts_with("<!doctype html") || text.starts_with("<html"))
        return "it looks like an HTML page (perhaps an error page saved by a download)";
    if (text.starts_with("<")) return "it looks like an XML or HTML page";
    if (text.starts_with("{")) return "it looks like a JSON file";
    return "its first bytes are of no kind known here";
}

}  // namespace hearth::gguf
