#include "tests/engine/gguf/file_spec.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::gguf {

std::string raw_string(std::string_view text) {
    return raw(std::uint64_t{text.size()}) + std::string(text);
}

std::string entry(std::string_view key, ValueType type, const std::string& payload) {
    return raw_string(key) + raw(static_cast<std::uint32_t>(type)) + payload;
}

std::string array_of(ValueType type, std::uint64_t count, const std::string& items) {
    return raw(static_cast<std::uint32_t>(type)) + raw(count) + items;
}

std::vector<std::byte> build(const FileSpec& spec) {
    std::string out = spec.magic + raw(spec.version) +
                      raw(spec.tensor_count.value_or(spec.tensors.size())) +
                      raw(spec.entry_count.value_or(spec.entries.size()));
    for (const std::string& one : spec.entries) out += one;
    for (const TensorSpec& tensor : spec.tensors) {
        out += raw_string(tensor.name);
        out += raw(tensor.n_dims.value_or(static_cast<std::uint32_t>(tensor.dims.size())));
        for (const std::uint64_t dim : tensor.dims) out += raw(dim);
        out += raw(tensor.type) + raw(tensor.offset);
    }
    if (spec.data_bytes > 0) {
        out.resize(align_up(out.size(), spec.alignment), '\0');
        out.append(spec.data_bytes, '\1');
    }
    std::vector<std::byte> bytes(out.size());
    std::transform(out.begin(), out.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

FileSpec sound() {
    FileSpec spec;
    spec.entries = {
        entry("general.architecture", ValueType::string, raw_string("llama")),
        entry("llama.block_count", ValueType::u32, raw(std::uint32_t{2})),
        entry("tokenizer.ggml.tokens", ValueType::array,
              array_of(ValueType::string, 2, raw_string("a") + raw_string("bc"))),
    };
    spec.tensors = {{.name = "norm", .dims = {32}, .type = 0, .offset = 0, .n_dims = {}},
                    {.name = "weight", .dims = {32, 2}, .type = 2, .offset = 128, .n_dims = {}}};
    spec.data_bytes = 128 + 36;
    return spec;
}

Result<File> read(const std::vector<std::byte>& bytes) { return File::read(bytes); }

// The File borrows the bytes, which are gone after this: for results that are looked at for their
// error or their directory only.
Result<File> read(const FileSpec& spec) { return File::read(build(spec)); }

void expect_error(const Result<File>& result, ErrorCode code, std::string_view part) {
    ASSERT_FALSE(result.has_value()) << "expected an error about: " << part;
    EXPECT_EQ(to_string(result.error().code), to_string(code)) << result.error().message;
    EXPECT_NE(result.error().message.find(part), std::string::npos)
        << "'" << part << "' is not in: " << result.error().message;
}

}  // namespace hearth::gguf
