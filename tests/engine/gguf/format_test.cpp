// T017 (other kinds of file) and T018 (versions).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/gguf/file_spec.h"

namespace hearth::gguf {
namespace {

using std::string_literals::operator""s;

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> out(text.size());
    std::ranges::transform(text, out.begin(), [](char c) { return static_cast<std::byte>(c); });
    return out;
}

TEST(T017, OtherKindsOfFileAreNamed) {
    struct Case {
        std::string bytes;
        const char* named;
    };
    const Case cases[] = {
        {"", "it is empty"},
        {"PK\x03\x04\x14\0\0\0\x08\0archive/data.pkl"s, "zip archive"},
        {"\x80\x02}q\0X\x05\0\0\0modelq"s, "Python pickle"},
        {"\x80\x04\x95\x10\0\0\0\0\0\0\0}"s, "Python pickle"},
        {"lmgg\x01\0\0\0"s, "old GGML file (magic ggml)"},
        {"fmgg\x01\0\0\0"s, "old GGML file (magic ggmf)"},
        {"tjgg\x03\0\0\0"s, "old GGML file (magic ggjt)"},
        {"algg\x01\0\0\0"s, "old GGML adapter"},
        {"<!DOCTYPE html><html><body>404", "HTML page"},
        {"\n  <HTML><head>", "HTML page"},
        {"<?xml version=\"1.0\"?>", "XML"},
        {"{\"error\":\"not found\"}", "JSON"},
        {"\x40\0\0\0\0\0\0\0{\"weight\":{}}"s, "safetensors"},
        {"\x1f\x8b\x08\0\0\0"s, "gzip"},
        {"\x28\xb5\x2f\xfd\x04"s, "zstd"},
        {"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"},
        {"\x7f"
         "ELF\x02\x01\x01"s,
         "a program"},
        {"\x89HDF\r\n"s, "HDF5"},
        {"   \n\n", "only blanks"},
        {"\x13\x37\xc0\xde\x99\xab"s, "no kind known here"},
        {"x", "no kind known here"},
        {std::string(100, '\0'), "no kind known here"},
    };
    for (const Case& one : cases)
        expect_error(read(bytes_of(one.bytes)), ErrorCode::unsupported_format, one.named);
}

TEST(T017, ABeginningOfTheMagicIsATruncatedFile) {
    for (const char* part : {"G", "GG", "GGU", "GGUF", "GGUF\x03"})
        expect_error(read(bytes_of(part)), ErrorCode::model_corrupt, "fetch it again");
}

TEST(T018, OtherVersionsAreUnsupported) {
    for (const std::uint32_t version : {0U, 1U, 4U, 100U, 65535U}) {
        FileSpec spec = sound();
        spec.version = version;
        expect_error(read(spec), ErrorCode::unsupported_version,
                     "of version " + std::to_string(version));
    }
}

TEST(T018, BigEndianFilesAreNamed) {
    FileSpec spec = sound();
    spec.version = 3U << 24;
    expect_error(read(spec), ErrorCode::unsupported_version, "big-endian");
    spec.version = 2U << 24;
    expect_error(read(spec), ErrorCode::unsupported_version, "big-endian");
    spec = sound();
    spec.magic = "FUGG";
    expect_error(read(spec), ErrorCode::unsupported_version, "big-endian");
}

}  // namespace
}  // namespace hearth::gguf
