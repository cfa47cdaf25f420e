// JSON texts that somebody else wrote: what is one, what is refused and how it is said.
#include <gtest/gtest.h>

#include "ipc/protocol/fields.h"

using namespace hearth;
using namespace hearth::protocol;

namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string complaint_about(const std::string& text) {
    const auto value = parse_json(text);
    if (value) return "(none)";
    EXPECT_EQ(value.error().code, ErrorCode::bad_input);
    return value.error().message;
}

TEST(T079, SixtyFourLevelsPassAndSixtyFiveDoNot) {
    EXPECT_TRUE(parse_json(nested(64)));
    EXPECT_NE(complaint_about(nested(65)).find("64"), std::string::npos);
    complaint_about(nested(100'000));
    complaint_about(std::string(100'000, '['));
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    complaint_about(objects);
}

TEST(T079, WhatIsNotOneJsonTextIsRefused) {
    for (const char* text :
         {"", " ", "{", "{} {}", "{}x", "[1,]", "NaN", "-Infinity", "{\"a\":1e}", "\xEF\xBB\xBF{}",
          "'a'", "{\"a\" 1}", "{a:1}", "// x\n{}", "01", "+1", "\"\n\"", "tru"}) {
        SCOPED_TRACE(text);
        EXPECT_NE(complaint_about(text), "(none)");
    }
    EXPECT_TRUE(parse_json(" {\"a\": [1, 2.5, \"\\u0000\", null]} \n"));
    EXPECT_NE(complaint_about(std::string("{}\0", 3)), "(none)");
    // UTF-16, with its mark and without.
    EXPECT_FALSE(parse_json(std::string("\xFF\xFE{\0}\0", 6)));
    EXPECT_FALSE(parse_json(std::string("{\0}\0", 4)));
}

TEST(T079, ANameTwiceInOneObjectIsRefused) {
    for (const char* text : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"\u0061":3})",
                             R"([{"x":[{"a":1,"b":{"a":2},"a":3}]}])"}) {
        SCOPED_TRACE(text);
        EXPECT_NE(complaint_about(text).find("same name twice"), std::string::npos);
    }
    EXPECT_TRUE(parse_json(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"A":1})"));
    // Also where there are many; in a time that grows with the text.
    std::string many = "{";
    for (int i = 0; i < 200'000; ++i) many += '"' + std::to_string(i) + "\":0,";
    EXPECT_TRUE(parse_json(many + "\"x\":0}"));
    EXPECT_NE(complaint_about(many + "\"199999\":0}").find("twice"), std::string::npos);
}

TEST(T079, NumbersBeyondADoubleAreRefused) {
    for (const std::string& text :
         {std::string("1e999"), std::string("-1e999"), std::string("[1e400]"),
          std::string(1'000'000, '9'), "1e" + std::string(1000, '9')}) {
        SCOPED_TRACE(text.substr(0, 20));
        EXPECT_NE(complaint_about(text), "(none)");
    }
    EXPECT_EQ(parse_json("1e-999")->as_double(), 0.0);
    EXPECT_EQ(parse_json("18446744073709551615")->as_uint64(), UINT64_MAX);
    EXPECT_TRUE(parse_json("0." + std::string(1'000'000, '1')));
}

TEST(T026, BytesThatAreNotUtf8AreNamedByTheirPlaceAndNotQuoted) {
    for (const char* bytes : {"\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                              "\xF5\x80\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
        const auto value = parse_json("{\"secret\":\"x" + std::string(bytes) + "\"}");
        ASSERT_FALSE(value);
        EXPECT_EQ(value.error().code, ErrorCode::invalid_utf8);
        const std::string& message = value.error().message;
        EXPECT_NE(message.find("byte 12"), std::string::npos) << message;
        EXPECT_EQ(message.find("secret"), std::string::npos);
    }
}

TEST(T027, HalfASurrogatePairIsRefusedAndANulIsKept) {
    for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\udc00\ud800")", R"("\ud800x")",
                             R"("\ud800\ud800")", R"({"\ud800":1})"}) {
        SCOPED_TRACE(text);
        EXPECT_NE(complaint_about(text), "(none)");
    }
    EXPECT_EQ(parse_json(R"("\ud83d\ude00")")->as_string(), "\xF0\x9F\x98\x80");
    const auto with_nul = parse_json(R"("a\u0000b")");
    ASSERT_TRUE(with_nul);
    EXPECT_EQ(std::string(with_nul->as_string()), std::string("a\0b", 3));
}

}  // namespace
