// What the writer writes, the reader reads; what no reader would take, the writer refuses.
#include "engine/gguf/writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

class GgufWriter : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    // Unique per process: tests of two builds may run at once.
    const std::string path_ = (std::filesystem::temp_directory_path() /
                               ("hearth-writer-" + std::to_string(getpid()) + ".gguf"))
                                  .string();
};

Metadata all_types() {
    using Data = decltype(Value::data);
    Metadata m;
    const auto add = [&](const char* key, ValueType type, Data data) {
        m.insert(key, {.type = type, .data = std::move(data)});
    };
    const auto add_list = [&](const char* key, ValueType type, Data data) {
        m.insert(key, {.type = ValueType::array, .data = std::move(data), .element_type = type});
    };
    add("u8", ValueType::u8, std::uint64_t{255});
    add("u16", ValueType::u16, std::uint64_t{65535});
    add("u32", ValueType::u32, std::uint64_t{4294967295U});
    add("u64", ValueType::u64, std::numeric_limits<std::uint64_t>::max());
    add("i8", ValueType::i8, std::int64_t{-128});
    add("i16", ValueType::i16, std::int64_t{-32768});
    add("i32", ValueType::i32, std::int64_t{-2147483648LL});
    add("i64", ValueType::i64, std::numeric_limits<std::int64_t>::min());
    add("f32", ValueType::f32, 0.1F);
    add("f64", ValueType::f64, 0.1);
    add("inf", ValueType::f32, std::numeric_limits<double>::infinity());
    add("bool", ValueType::boolean, true);
    add("string", ValueType::string, std::string("a\0b", 3));
    add_list("u8s", ValueType::u8, std::vector<std::uint64_t>{0, 255});
    add_list("i32s", ValueType::i32, std::vector<std::int64_t>{-1, 1});
    add_list("f32s", ValueType::f32, std::vector<double>{0.5, -0.25});
    add_list("bools", ValueType::boolean, std::vector<bool>{true, false, true});
    add_list("strings", ValueType::string, std::vector<std::string>{"", "two"});
    add_list("none", ValueType::string, std::vector<std::string>{});
    return m;
}

std::vector<std::byte> filled(std::size_t size, int with) {
    return std::vector<std::byte>(size, std::byte(with));
}

TEST_F(GgufWriter, FilesReadBackAsTheyWerePlanned) {
    const Metadata metadata = all_types();
    auto writer = Writer::create(path_, metadata,
                                 {{"norm", DType::f32, {5}}, {"weight", DType::q4_k, {256, 3}}});
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    ASSERT_TRUE(writer->append(filled(20, 1)).has_value());
    ASSERT_TRUE(writer->append(filled(3 * 144, 2)).has_value());
    ASSERT_TRUE(writer->finish().has_value());

    const auto mapped = MappedFile::open(path_);
    ASSERT_TRUE(mapped.has_value());
    const auto file = File::read(mapped->bytes());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->version(), 3U);
    ASSERT_EQ(file->metadata().values().size(), metadata.values().size());
    for (const auto& [key, expected] : metadata.values()) {
        SCOPED_TRACE(key);
        const Value* found = file->metadata().find(key);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->type, expected.type);
        EXPECT_EQ(found->data, expected.data);
        if (expected.type == ValueType::array) {
            EXPECT_EQ(found->element_type, expected.element_type);
        }
    }
    ASSERT_EQ(file->tensors().size(), 2U);
    EXPECT_EQ(file->tensors()[1].name, "weight");
    EXPECT_EQ(file->tensors()[1].type, DType::q4_k);
    EXPECT_EQ(file->tensors()[1].rows(), 3U);
    EXPECT_TRUE(std::ranges::equal(file->data(file->tensors()[0]), filled(20, 1)));
    EXPECT_TRUE(std::ranges::equal(file->data(file->tensors()[1]), filled(3 * 144, 2)));
}

TEST_F(GgufWriter, StatedAlignmentIsKept) {
    Metadata metadata;
    metadata.insert("general.alignment", {.type = ValueType::u32, .data = std::uint64_t{4096}});
    auto writer = Writer::create(path_, metadata, {{"a", DType::f32, {1}}, {"b", DType::f16, {2}}});
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->append(filled(4, 1)).has_value());
    ASSERT_TRUE(writer->append(filled(4, 2)).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    const auto mapped = MappedFile::open(path_);
    const auto file = File::read(mapped->bytes());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->tensors()[0].offset, 4096U);
    EXPECT_EQ(file->tensors()[1].offset, 8192U);
}

TEST_F(GgufWriter, PlansThatNoReaderTakesAreRefused) {
    const std::vector<TensorPlan> bad[] = {
        {{"", DType::f32, {1}}},
        {{"a\nb", DType::f32, {1}}},
        {{"a", DType::f32, {1}}, {"a", DType::f32, {1}}},
        {{"a", DType::f32, {}}},
        {{"a", DType::f32, {1, 1, 1, 1, 1}}},
        {{"a", DType::f32, {0}}},
        {{"a", DType::q4_k, {128}}},
        {{"a", DType::f32, {1ULL << 62}}},
    };
    for (const auto& plan : bad) {
        const auto writer = Writer::create(path_, Metadata(), plan);
        ASSERT_FALSE(writer.has_value());
        EXPECT_EQ(writer.error().code, ErrorCode::bad_input) << writer.error().message;
        EXPECT_FALSE(std::filesystem::exists(path_));
    }
}

TEST_F(GgufWriter, ValuesThatDoNotFitTheirTypeAreRefused) {
    const Value bad[] = {
        {.type = ValueType::u8, .data = std::uint64_t{256}},
        {.type = ValueType::i16, .data = std::int64_t{40000}},
        {.type = ValueType::f32, .data = 1e300},
        {.type = ValueType::u32, .data = std::string("7")},
        {.type = ValueType::string, .data = true},
        {.type = ValueType::u32, .data = std::vector<std::uint64_t>{1}},
        {.type = ValueType::array,
         .data = std::vector<std::uint64_t>{256},
         .element_type = ValueType::u8},
        {.type = ValueType::array,
         .data = std::vector<std::string>{"x"},
         .element_type = ValueType::array},
    };
    for (const Value& value : bad) {
        Metadata metadata;
        metadata.insert("the.key", value);
        const auto writer = Writer::create(path_, metadata, {});
        ASSERT_FALSE(writer.has_value());
        EXPECT_EQ(writer.error().code, ErrorCode::bad_input);
        EXPECT_NE(writer.error().message.find("'the.key'"), std::string::npos);
    }
}

TEST_F(GgufWriter, DataMustComeWholeAndInOrder) {
    auto writer = Writer::create(path_, Metadata(), {{"a", DType::f32, {2}}});
    ASSERT_TRUE(writer.has_value());
    EXPECT_FALSE(writer->finish().has_value());
    EXPECT_FALSE(writer->append(filled(4, 0)).has_value());
    EXPECT_FALSE(writer->append(filled(12, 0)).has_value());
    EXPECT_TRUE(writer->append(filled(8, 0)).has_value());
    EXPECT_FALSE(writer->append(filled(8, 0)).has_value());
    EXPECT_TRUE(writer->finish().has_value());
}

TEST_F(GgufWriter, UnwritablePathsAreNamed) {
    const auto writer = Writer::create("/nonexistent-folder/x.gguf", Metadata(), {});
    ASSERT_FALSE(writer.has_value());
    EXPECT_EQ(writer.error().code, ErrorCode::io_failed);
    EXPECT_NE(writer.error().message.find("/nonexistent-folder/x.gguf"), std::string::npos);
}

TEST_F(GgufWriter, AFullDiskIsAnErrorNotASilentLoss) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this machine";
    auto writer = Writer::create("/dev/full", Metadata(), {{"a", DType::f32, {64}}});
    ASSERT_TRUE(writer.has_value());  // the header still lies in the buffer
    const bool appended = writer->append(filled(256, 0)).has_value();
    EXPECT_FALSE(appended && writer->finish().has_value());
}

}  // namespace
}  // namespace hearth::gguf
