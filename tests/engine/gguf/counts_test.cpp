// T002 and T003: counts and lengths that lie, and arithmetic that would wrap. Each historic case of
// another program has a test of its own.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "engine/base/units.h"
#include "tests/engine/gguf/allocation_counter.h"
#include "tests/engine/gguf/file_spec.h"

namespace hearth::gguf {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// Large enough that error texts do not matter beside twice its size.
FileSpec large() {
    FileSpec spec = sound();
    spec.data_bytes = 64 * kKiB;
    return spec;
}

struct CountCase {
    const char* name;
    std::function<void(FileSpec&, std::uint64_t)> set;
    const char* named;
};

const CountCase kCountCases[] = {
    {"tensors", [](FileSpec& s, std::uint64_t n) { s.tensor_count = n; }, "the tensor directory"},
    {"entries", [](FileSpec& s, std::uint64_t n) { s.entry_count = n; }, "the metadata"},
    {"key", [](FileSpec& s, std::uint64_t n) { s.entries[1] = raw(n) + "llama"; },
     "the name of metadata entry 1"},
    {"string",
     [](FileSpec& s, std::uint64_t n) {
         s.entries[0] = entry("general.architecture", ValueType::string, raw(n) + "llama");
     },
     "'general.architecture'"},
    {"array of bytes",
     [](FileSpec& s, std::uint64_t n) {
         s.entries[2] = entry("list", ValueType::array, array_of(ValueType::u8, n, "abc"));
     },
     "'list'"},
    {"array of strings",
     [](FileSpec& s, std::uint64_t n) {
         s.entries[2] = entry("list", ValueType::array, array_of(ValueType::string, n, ""));
     },
     "'list'"},
    {"string in an array",
     [](FileSpec& s, std::uint64_t n) {
         s.entries[2] = entry("list", ValueType::array, array_of(ValueType::string, 1, raw(n)));
     },
     "'list'"},
    {"tensor name",
     [](FileSpec& s, std::uint64_t n) {
         s.tensors.clear();
         s.tensor_count = 1;
         s.entries.push_back(raw(n) + "weight");  // stands where the directory begins
         s.entry_count = 3;
     },
     "the name of tensor 0"},
};

TEST(T002, LyingCountsAreRefusedBeforeAnythingIsAllocated) {
    for (const CountCase& one : kCountCases) {
        const std::size_t file_size = build(large()).size();
        const std::uint64_t counts[] = {kMax,       kMax - 3,      1ULL << 63,   (1ULL << 63) - 1,
                                        1ULL << 62, kMax / 32 + 1, kMax / 8 + 1, file_size + 1000};
        for (const std::uint64_t count : counts) {
            SCOPED_TRACE(std::string(one.name) + " = " + std::to_string(count));
            FileSpec spec = large();
            one.set(spec, count);
            const std::vector<std::byte> bytes = build(spec);
            const PeakMemory memory;
            const auto file = File::read(bytes);
            EXPECT_LE(memory.extra(), 2 * bytes.size());
            expect_error(file, ErrorCode::model_corrupt, one.named);
        }
    }
}

TEST(T002, CountsOverTheLimitAreRefusedEvenWhereTheFileIsLongEnough) {
    FileSpec spec = sound();
    spec.data_bytes = 20 * kMiB;
    spec.entries[0] = entry("general.architecture", ValueType::string, raw(17 * kMiB));
    expect_error(read(spec), ErrorCode::model_corrupt, "the limit is 16777216");

    spec = sound();
    spec.data_bytes = 4 * kMiB;
    spec.tensor_count = 65537;
    expect_error(read(spec), ErrorCode::model_corrupt, "the limit is 65536");
    spec = sound();
    spec.data_bytes = 4 * kMiB;
    spec.entry_count = 65537;
    expect_error(read(spec), ErrorCode::model_corrupt, "the limit is 65536");

    spec = sound();
    spec.data_bytes = 65 * kMiB;
    spec.entries[2] = entry("list", ValueType::array, array_of(ValueType::u8, 64 * kMiB + 1, ""));
    expect_error(read(spec), ErrorCode::model_corrupt, "the limit is 67108864");
}

TEST(T003, ProductOfDimensionsThatWraps) {
    const std::vector<std::uint64_t> wrapping[] = {
        {1ULL << 32, 1ULL << 32},                         // wraps to 0
        {1ULL << 32, (1ULL << 32) + 1},                   // wraps to 2^32
        {1ULL << 21, 1ULL << 21, 1ULL << 21, 1ULL << 2},  // wraps at the last
        {1ULL << 63},                                     // negative as a signed number
        {kMax - 31},
        {32, kMax},
    };
    for (const auto& dims : wrapping) {
        FileSpec spec = sound();
        spec.tensors[1].dims = dims;
        expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'weight' has more elements");
    }
}

// GHSA-96jg-mvhq-q7q7: elements times bytes of an element.
TEST(T003, Ghsa96jg_ElementsTimesTypeSizeThatWraps) {
    FileSpec spec = sound();
    spec.tensors[1].type = 0;
    spec.tensors[1].dims = {1ULL << 62};  // times 4 is 2^64
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'weight' has a size that overflows");
    spec.tensors[1].dims = {1ULL << 31, (1ULL << 31) + 8};
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'weight' has a size that overflows");
}

// CVE-2025-53630: the sizes of two tensors together wrap to a small number.
TEST(T003, Cve2025_53630_SumOverTwoTensorsThatWraps) {
    FileSpec spec = sound();
    spec.tensors[0].dims = {1ULL << 61};  // 2^63 bytes each
    spec.tensors[1].dims = {1ULL << 61};
    spec.tensors[1].type = 0;
    spec.tensors[1].offset = 1ULL << 63;
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'norm' reaches past the end");
}

// CVE-2026-27940: the sum passes the check and wraps in the expression next to it, here offset +
// size and start + offset.
TEST(T003, Cve2026_27940_FinalSumThatWraps) {
    FileSpec spec = sound();
    spec.tensors[1].offset = kMax - 31;  // aligned; plus 36 bytes it wraps
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'weight' reaches past the end");
    spec.tensors[0].offset = kMax - 127;  // plus the start of the data it wraps
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'norm' reaches past the end");
}

// Pull requests 24759 and 26318 of llama.cpp: x + alignment - 1 wraps, so that the guard passes.
TEST(T003, Pr24759_PaddingNearTheLargestNumberThatWraps) {
    EXPECT_FALSE(Checked(kMax - 3).align_up(32).value().has_value());
    FileSpec spec = sound();
    spec.tensors[0].dims = {(1ULL << 62) - 32};  // 2^64 - 128 bytes: as large as they get
    expect_error(read(spec), ErrorCode::model_corrupt, "tensor 'norm' reaches past the end");
}

// Issue 15711 of llama.cpp: count times bytes per tensor wraps or is checked with another struct's
// size.
TEST(T003, Issue15711_TensorCountTimesOverheadThatWraps) {
    for (const std::uint64_t bytes : {32ULL, 48ULL, 96ULL, 112ULL, 376ULL, 400ULL}) {
        FileSpec spec = sound();
        spec.tensor_count = kMax / bytes + 1;
        expect_error(read(spec), ErrorCode::model_corrupt, "the tensor directory");
    }
}

// GHSA-3p75-pq92-q28f: a dimension of 0 as divisor of the overflow check itself.
TEST(T003, Ghsa3p75_ZeroDimensionAsDivisor) {
    const std::vector<std::uint64_t> zeros[] = {{0}, {32, 0}, {0, 1ULL << 63}, {1ULL << 40, 0, 3}};
    for (const auto& dims : zeros) {
        FileSpec spec = sound();
        spec.tensors[1].dims = dims;
        expect_error(read(spec), ErrorCode::model_corrupt, "'weight' has a dimension of 0");
    }
}

// CVE-2024-23496 and its siblings: header counts and string lengths times struct sizes wrap in an
// allocation.
TEST(T003, Cve2024_23496_HeaderCountTimesStructSizeThatWraps) {
    for (const std::uint64_t bytes : {8ULL, 16ULL, 24ULL, 40ULL, 48ULL, 64ULL}) {
        FileSpec spec = sound();
        spec.entry_count = kMax / bytes + 1;
        expect_error(read(spec), ErrorCode::model_corrupt, "the metadata");
        spec = sound();
        spec.entries[2] = entry("list", ValueType::array,
                                array_of(ValueType::string, kMax / bytes + 1, raw_string("a")));
        expect_error(read(spec), ErrorCode::model_corrupt, "'list'");
        spec.entries[2] =
            entry("list", ValueType::array, array_of(ValueType::u64, kMax / bytes + 1, raw(kMax)));
        expect_error(read(spec), ErrorCode::model_corrupt, "'list'");
    }
    FileSpec spec = sound();
    spec.entries[0] = entry("text", ValueType::string, raw(kMax) + "x");  // length + 1 wraps to 0
    expect_error(read(spec), ErrorCode::model_corrupt, "'text'");
}

// CVE-2025-49847: a length narrowed to 32 bits looks small.
TEST(T003, Cve2025_49847_LengthNarrowedTo32Bits) {
    for (const std::uint64_t length : {(1ULL << 32) + 3, (1ULL << 31) + 3, (1ULL << 63) + 3}) {
        FileSpec spec = sound();
        spec.entries[2] =
            entry("tokens", ValueType::array, array_of(ValueType::string, 1, raw(length) + "abc"));
        expect_error(read(spec), ErrorCode::model_corrupt, "'tokens'");
    }
}

}  // namespace
}  // namespace hearth::gguf
