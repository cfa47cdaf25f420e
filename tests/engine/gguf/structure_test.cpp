// T001 (truncation), T006 (alignment), T007 (metadata entries): the structure before the tensors.
#include <gtest/gtest.h>

#include "tests/engine/gguf/file_spec.h"

namespace hearth::gguf {
namespace {

TEST(GgufReader, ReadsASoundFile) {
    const std::vector<std::byte> bytes = build(sound());
    const auto file = read(bytes);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->version(), 3U);
    EXPECT_EQ(file->metadata().string("general.architecture").value(), "llama");
    ASSERT_EQ(file->tensors().size(), 2U);
    const TensorInfo* weight = file->find("weight");
    ASSERT_NE(weight, nullptr);
    EXPECT_EQ(weight->type, DType::q4_0);
    EXPECT_EQ(weight->n_dims, 2);
    EXPECT_EQ(weight->cols(), 32U);
    EXPECT_EQ(weight->rows(), 2U);
    EXPECT_EQ(weight->bytes, 36U);
    EXPECT_EQ(weight->offset % 32, 0U);
    EXPECT_EQ(file->data(*weight).data() + 36, bytes.data() + bytes.size());
    EXPECT_EQ(file->find("absent"), nullptr);
}

TEST(GgufReader, ReadsVersion2AndFilesWithoutTensors) {
    FileSpec spec = sound();
    spec.version = 2;
    EXPECT_TRUE(read(spec).has_value());
    spec.tensors.clear();
    spec.data_bytes = 0;
    EXPECT_TRUE(read(spec).has_value());
    spec.entries.clear();
    EXPECT_TRUE(read(spec).has_value());
}

TEST(GgufReader, IndexByNameSurvivesMoves) {
    const std::vector<std::byte> bytes = build(sound());
    auto file = read(bytes);
    ASSERT_TRUE(file.has_value());
    const File moved = *std::move(file);
    ASSERT_NE(moved.find("norm"), nullptr);
    EXPECT_EQ(moved.find("norm"), &moved.tensors()[0]);
}

TEST(T001, TruncationAtEveryByteIsCorrupt) {
    const std::vector<std::byte> whole = build(sound());
    for (std::size_t size = 1; size < whole.size(); ++size) {
        SCOPED_TRACE("cut to " + std::to_string(size));
        const std::vector<std::byte> cut(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(size));
        expect_error(read(cut), ErrorCode::model_corrupt, "fetch it again");
    }
}

TEST(T001, BytesAfterTheLastTensorAreAllowed) {
    std::vector<std::byte> bytes = build(sound());
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(read(bytes).has_value());
}

TEST(T006, BadAlignmentIsCorrupt) {
    for (const std::uint32_t alignment : {0U, 1U, 4U, 13U, 48U, 1U << 21, 1U << 31, ~0U}) {
        SCOPED_TRACE(alignment);
        FileSpec spec = sound();
        spec.entries.push_back(entry("general.alignment", ValueType::u32, raw(alignment)));
        expect_error(read(spec), ErrorCode::model_corrupt, "'general.alignment'");
    }
}

TEST(T006, AlignmentOfAnotherTypeIsCorrupt) {
    const std::string wrong[] = {
        entry("general.alignment", ValueType::u64, raw(std::uint64_t{32})),
        entry("general.alignment", ValueType::i32, raw(std::uint32_t{32})),
        entry("general.alignment", ValueType::string, raw_string("32")),
        entry("general.alignment", ValueType::boolean, raw(std::uint8_t{1})),
        entry("general.alignment", ValueType::array,
              array_of(ValueType::u32, 1, raw(std::uint32_t{32}))),
    };
    for (const std::string& one : wrong) {
        FileSpec spec = sound();
        spec.entries.push_back(one);
        expect_error(read(spec), ErrorCode::model_corrupt, "'general.alignment' is of type");
    }
}

TEST(T006, StatedAlignmentPlacesTheData) {
    for (const std::uint32_t alignment : {8U, 64U, 1U << 20}) {
        FileSpec spec = sound();
        spec.entries.push_back(entry("general.alignment", ValueType::u32, raw(alignment)));
        spec.alignment = alignment;
        spec.tensors[1].offset = align_up(128, alignment);
        spec.data_bytes = spec.tensors[1].offset + 36;
        const auto file = read(spec);
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ(file->find("weight")->offset % alignment, 0U);
    }
}

TEST(T007, DuplicateKeyIsCorrupt) {
    FileSpec spec = sound();
    spec.entries.push_back(entry("llama.block_count", ValueType::u32, raw(std::uint32_t{9})));
    expect_error(read(spec), ErrorCode::model_corrupt, "'llama.block_count' is there twice");
}

TEST(T007, EmptyKeyIsCorrupt) {
    FileSpec spec = sound();
    spec.entries.push_back(entry("", ValueType::u32, raw(std::uint32_t{9})));
    expect_error(read(spec), ErrorCode::model_corrupt, "metadata entry 3 has an empty name");
}

TEST(T007, KeyWithNulIsCorruptAndShownEscaped) {
    FileSpec spec = sound();
    spec.entries.push_back(
        entry(std::string_view("a\0b", 3), ValueType::u32, raw(std::uint32_t{9})));
    expect_error(read(spec), ErrorCode::model_corrupt, "'a\\x00b'");
}

TEST(T007, LongForeignKeysAreCutInMessages) {
    FileSpec spec = sound();
    const std::string key(5000, 'k');
    spec.entries.push_back(entry(key, ValueType::u8, raw(std::uint8_t{1})));
    spec.entries.push_back(entry(key, ValueType::u8, raw(std::uint8_t{1})));
    const auto file = read(spec);
    expect_error(file, ErrorCode::model_corrupt, "is there twice");
    EXPECT_LT(file.error().message.size(), 200U);
}

TEST(T007, ArrayOfArraysIsCorruptAtAnyDepth) {
    for (const int depth : {1, 2, 1000, 100000}) {
        std::string payload = array_of(ValueType::u8, 1, raw(std::uint8_t{1}));
        std::string nested;
        for (int i = 0; i < depth; ++i) nested += array_of(ValueType::array, 1, "");
        FileSpec spec = sound();
        spec.entries.push_back(entry("deep", ValueType::array, nested + payload));
        expect_error(read(spec), ErrorCode::model_corrupt, "'deep' is an array of arrays");
    }
}

TEST(T007, UnknownValueTypesAreCorrupt) {
    for (const std::uint32_t type : {13U, 255U, ~0U}) {
        FileSpec spec = sound();
        spec.entries.push_back(entry("odd", ValueType{type}, raw(std::uint64_t{0})));
        expect_error(read(spec), ErrorCode::model_corrupt, "'odd' has a value of unknown type");
        spec.entries.back() =
            entry("odd", ValueType::array, array_of(ValueType{type}, 1, raw(std::uint64_t{0})));
        expect_error(read(spec), ErrorCode::model_corrupt, "'odd' has a value of unknown type");
    }
}

TEST(T007, BoolsOtherThan0And1AreCorrupt) {
    FileSpec spec = sound();
    spec.entries.push_back(entry("flag", ValueType::boolean, raw(std::uint8_t{2})));
    expect_error(read(spec), ErrorCode::model_corrupt, "'flag' is a bool of value 2");
    spec.entries.back() =
        entry("flag", ValueType::array, array_of(ValueType::boolean, 2, std::string("\1\3", 2)));
    expect_error(read(spec), ErrorCode::model_corrupt, "'flag' is a bool of value 3");
}

}  // namespace
}  // namespace hearth::gguf
