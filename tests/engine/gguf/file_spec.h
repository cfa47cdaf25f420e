// GGUF files as tests want them, broken in one place at a time. Independent of the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gguf/reader.h"

namespace hearth::gguf {

// Little-endian bytes of a number.
template <typename T>
std::string raw(T value) {
    std::string out(sizeof value, '\0');
    for (char& c : out) {
        c = static_cast<char>(value & 0xff);
        value = static_cast<T>(sizeof(T) > 1 ? value >> 8 : 0);
    }
    return out;
}
// Length and bytes.
std::string raw_string(std::string_view text);
// One metadata entry; `payload` is what follows the type.
std::string entry(std::string_view key, ValueType type, const std::string& payload);
// The payload of an array.
std::string array_of(ValueType type, std::uint64_t count, const std::string& items);

struct TensorSpec {
    std::string name = "weight";
    std::vector<std::uint64_t> dims = {32};
    std::uint32_t type = 0;  // F32
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> n_dims;  // instead of the number of dims
};

struct FileSpec {
    std::string magic = "GGUF";
    std::uint32_t version = 3;
    std::optional<std::uint64_t> tensor_count;  // instead of the true ones
    std::optional<std::uint64_t> entry_count;
    std::vector<std::string> entries;
    std::vector<TensorSpec> tensors;
    std::size_t alignment = 32;
    std::size_t data_bytes = 0;
};

// The file's bytes in a buffer of exactly that size, so that AddressSanitizer sees a read past its
// end.
std::vector<std::byte> build(const FileSpec& spec);

// A sound file with two tensors (F32 [32] and Q4_0 [32, 2]) and three entries.
FileSpec sound();

Result<File> read(const std::vector<std::byte>& bytes);
Result<File> read(const FileSpec& spec);

// Fails the running test unless the result is an error with this code whose message contains
// `part`.
void expect_error(const Result<File>& result, ErrorCode code, std::string_view part);

}  // namespace hearth::gguf
