// T007: typed lookup, whose every error names the key.
#include "engine/gguf/metadata.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hearth::gguf {
namespace {

constexpr IntRange kAny = {std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max()};

Value value(ValueType type, decltype(Value::data) data) {
    return {.type = type, .data = std::move(data)};
}

Value list(ValueType element_type, decltype(Value::data) data) {
    return {.type = ValueType::array, .data = std::move(data), .element_type = element_type};
}

Metadata example() {
    Metadata m;
    m.insert("u32", value(ValueType::u32, std::uint64_t{7}));
    m.insert("u64", value(ValueType::u64, std::numeric_limits<std::uint64_t>::max()));
    m.insert("i8", value(ValueType::i8, std::int64_t{-5}));
    m.insert("f32", value(ValueType::f32, 0.5));
    m.insert("f64", value(ValueType::f64, 1e300));
    m.insert("nan", value(ValueType::f32, std::nan("")));
    m.insert("inf", value(ValueType::f32, std::numeric_limits<double>::infinity()));
    m.insert("bool", value(ValueType::boolean, true));
    m.insert("string", value(ValueType::string, std::string("text")));
    m.insert("strings", list(ValueType::string, std::vector<std::string>{"a", "b"}));
    m.insert("floats", list(ValueType::f32, std::vector<double>{0.25, -1}));
    m.insert("ints", list(ValueType::i32, std::vector<std::int64_t>{-1, 2}));
    m.insert("naturals", list(ValueType::u64, std::vector<std::uint64_t>{1, 1ULL << 63}));
    m.insert("bools", list(ValueType::boolean, std::vector<bool>{true}));
    return m;
}

template <typename T>
void expect_invalid(const Result<T>& result, const std::string& part) {
    ASSERT_FALSE(result.has_value()) << part;
    EXPECT_EQ(result.error().code, ErrorCode::model_invalid);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST(GgufMetadata, ValuesComeBackWithTheirTypes) {
    const Metadata m = example();
    EXPECT_EQ(m.integer("u32", kAny).value(), 7);
    EXPECT_EQ(m.integer("i8", kAny).value(), -5);
    EXPECT_EQ(m.number("f32").value(), 0.5F);
    EXPECT_TRUE(m.boolean_or("bool", false).value());
    EXPECT_EQ(m.string("string").value(), "text");
    EXPECT_EQ(m.strings("strings").value().size(), 2U);
    EXPECT_EQ(m.numbers("floats").value(), (std::vector<float>{0.25F, -1.0F}));
    EXPECT_EQ(m.numbers("ints").value(), (std::vector<float>{-1.0F, 2.0F}));
    EXPECT_EQ(m.integers("ints").value(), (std::vector<std::int64_t>{-1, 2}));
    EXPECT_TRUE(m.has("u32"));
    EXPECT_FALSE(m.has("absent"));
}

TEST(GgufMetadata, FallbacksStandInForMissingKeysOnly) {
    const Metadata m = example();
    EXPECT_EQ(m.integer_or("absent", kAny, 3).value(), 3);
    EXPECT_EQ(m.integer_or("u32", kAny, 3).value(), 7);
    EXPECT_EQ(m.number_or("absent", 2.5F).value(), 2.5F);
    EXPECT_FALSE(m.boolean_or("absent", false).value());
    EXPECT_EQ(m.string_or("absent", "none").value(), "none");
    expect_invalid(m.integer_or("string", kAny, 3), "'string' is of type string");
    expect_invalid(m.number_or("string", 1.0F), "'string' is of type string");
    expect_invalid(m.boolean_or("u32", true), "'u32' is of type u32");
    expect_invalid(m.string_or("u32", "none"), "'u32' is of type u32");
}

TEST(T007, MissingKeysAreNamed) {
    const Metadata m = example();
    expect_invalid(m.integer("llama.block_count", kAny), "'llama.block_count' is missing");
    expect_invalid(m.number("x"), "'x' is missing");
    expect_invalid(m.string("x"), "'x' is missing");
    expect_invalid(m.strings("x"), "'x' is missing");
    expect_invalid(m.numbers("x"), "'x' is missing");
    expect_invalid(m.integers("x"), "'x' is missing");
}

TEST(T007, WrongTypesAreNamed) {
    const Metadata m = example();
    expect_invalid(m.integer("f32", kAny), "'f32' is of type f32, expected an integer");
    expect_invalid(m.integer("bool", kAny), "'bool' is of type bool, expected an integer");
    expect_invalid(m.integer("ints", kAny), "'ints' is of type array of i32");
    expect_invalid(m.number("u32"), "'u32' is of type u32, expected a floating-point number");
    expect_invalid(m.string("strings"), "'strings' is of type array of string");
    expect_invalid(m.strings("string"), "'string' is of type string");
    expect_invalid(m.strings("ints"), "'ints' is of type array of i32");
    expect_invalid(m.numbers("strings"), "'strings' is of type array of string");
    expect_invalid(m.numbers("bools"), "'bools' is of type array of bool");
    expect_invalid(m.integers("floats"), "'floats' is of type array of f32");
    expect_invalid(m.integers("u32"), "'u32' is of type u32");
}

TEST(GgufMetadata, IntegersOutOfRangeAreNamedWithTheRange) {
    const Metadata m = example();
    expect_invalid(m.integer("u32", {8, 512}), "'u32' is 7, expected 8 to 512");
    expect_invalid(m.integer("u32", {1, 6}), "'u32' is 7, expected 1 to 6");
    expect_invalid(m.integer("i8", {0, 10}), "'i8' is -5, expected 0 to 10");
    expect_invalid(m.integer("u64", kAny), "'u64' is out of range: 18446744073709551615");
    expect_invalid(m.integers("naturals"), "'naturals' is out of range: 9223372036854775808");
}

TEST(GgufMetadata, NumbersMustBeFinite) {
    const Metadata m = example();
    expect_invalid(m.number("nan"), "'nan' is not a finite number");
    expect_invalid(m.number("inf"), "'inf' is not a finite number");
    expect_invalid(m.number("f64"), "'f64' is not a finite number");
    expect_invalid(m.number_or("nan", 1.0F), "'nan' is not a finite number");
}

TEST(GgufMetadata, InsertKeepsTheFirst) {
    Metadata m;
    EXPECT_TRUE(m.insert("a", value(ValueType::u8, std::uint64_t{1})));
    EXPECT_FALSE(m.insert("a", value(ValueType::u8, std::uint64_t{2})));
    EXPECT_EQ(m.integer("a", kAny).value(), 1);
}

}  // namespace
}  // namespace hearth::gguf
