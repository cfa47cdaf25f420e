#include "daemon/app/build_id.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace hearth::app {
namespace {

constexpr std::size_t kDigits = 12;

template <typename T>
std::optional<T> read_at(std::ifstream& file, std::uint64_t offset) {
    std::vector<char> bytes(sizeof(T));
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

// Notes are a header, a name and a description, each padded to 4 bytes.
std::string id_in_notes(std::ifstream& file, const Elf64_Phdr& segment) {
    constexpr std::uint64_t kMaxNotes = 4096;
    const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    std::uint64_t at = 0;
    while (at + sizeof(Elf64_Nhdr) < std::min<std::uint64_t>(segment.p_filesz, kMaxNotes)) {
        const auto note = read_at<Elf64_Nhdr>(file, segment.p_offset + at);
        if (!note) return {};
        const std::uint64_t body = at + sizeof *note + padded(note->n_namesz);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz >= kDigits / 2) {
            std::string text;
            for (std::uint64_t i = 0; i < kDigits / 2; ++i) {
                constexpr std::string_view kHex = "0123456789abcdef";
                const auto byte = read_at<unsigned char>(file, segment.p_offset + body + i);
                text += kHex[byte.value_or(0) >> 4U];
                text += kHex[byte.value_or(0) & 15U];
            }
            return text;
        }
        at = body + padded(note->n_descsz);
    }
    return {};
}

std::string id_of(const std::string& program) {
    std::ifstream file(program, std::ios::binary);
    const auto head = read_at<Elf64_Ehdr>(file, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return "none";
    for (std::uint64_t i = 0; i < head->e_phnum; ++i) {
        const auto segment = read_at<Elf64_Phdr>(file, head->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment || segment->p_type != PT_NOTE) continue;
        if (std::string id = id_in_notes(file, *segment); !id.empty()) return id;
    }
    return "none";
}

}  // namespace

std::string build_id(const std::string& worker_path) {
    return id_of("/proc/self/exe") + "-" + id_of(worker_path);
}

}  // namespace hearth::app
