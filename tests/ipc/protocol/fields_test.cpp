// Reading JSON that somebody else wrote: limits, types, ranges, and failures that name the field.
#include "ipc/protocol/fields.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/utf8.h"
#include "ipc/protocol/failure.h"
#include "ipc/protocol/paths.h"

using namespace hearth;
using namespace hearth::protocol;

namespace {

TEST(Utf8, TheFirstWrongByteIsFound) {
    const struct {
        std::string text;
        std::optional<std::size_t> wrong;
    } cases[] = {
        {"", std::nullopt},
        {"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z", std::nullopt},
        {"\x80", 0},              // continuation alone
        {"ab\xC3", 2},            // cut
        {"a\xE2\x82", 1},         // cut
        {"\xC0\x80", 0},          // overlong
        {"\xE0\x9F\xBF", 0},      // overlong
        {"\xED\xA0\x80", 0},      // surrogate
        {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
        {"\xF5\x80\x80\x80", 0},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text);
        EXPECT_EQ(find_utf8_error(c.text), c.wrong);
        EXPECT_FALSE(find_utf8_error(repair_utf8(c.text)));
        EXPECT_EQ(repair_utf8(c.text) == c.text, !c.wrong);
    }
    EXPECT_EQ(repair_utf8("a\xC3z"), "a\xEF\xBF\xBDz");
}

class FieldsTest : public testing::Test {
protected:
    void read(const char* text) {
        object_ = parse_json(text)->as_object();
        fields_.emplace(object_, "");
    }
    std::string param() const {
        return fields_->failure() ? fields_->failure()->param : "(no failure)";
    }

    json::object object_;
    std::optional<Fields> fields_;
};

TEST_F(FieldsTest, ValuesInRangeAreRead) {
    read(R"({"t":"x","n":0.5,"i":7,"one":1.0,"f":true,"s":18446744073709551615,"l":[1],"o":{}})");
    EXPECT_EQ(fields_->text("t"), "x");
    EXPECT_EQ(fields_->number("n", {0.0, 1.0}), 0.5);
    EXPECT_EQ(fields_->number("i"), 7.0);
    EXPECT_EQ(fields_->integer("i", {1, 7}), 7);
    EXPECT_EQ(fields_->integer("one"), 1);
    EXPECT_EQ(fields_->flag("f"), true);
    EXPECT_EQ(fields_->size("s"), UINT64_MAX);
    EXPECT_NE(fields_->array("l"), nullptr);
    EXPECT_NE(fields_->object("o"), nullptr);
    EXPECT_EQ(param(), "(no failure)");
}

TEST_F(FieldsTest, AbsentAndNullAreTheSame) {
    read(R"({"t":null})");
    EXPECT_EQ(fields_->text("t"), std::nullopt);
    EXPECT_EQ(fields_->number("n"), std::nullopt);
    EXPECT_EQ(fields_->value("t"), nullptr);
    EXPECT_EQ(param(), "(no failure)");
    EXPECT_EQ(fields_->required_text("t"), "");
    EXPECT_EQ(param(), "t");
}

TEST_F(FieldsTest, WrongTypesAndRangesNameTheField) {
    const struct {
        const char* text;
        void (*read)(Fields&);
    } cases[] = {
        {R"({"p":1})", [](Fields& f) { f.text("p"); }},
        {R"({"p":"1"})", [](Fields& f) { f.number("p"); }},
        {R"({"p":1e308})", [](Fields& f) { f.number("p", {0.0, 1e300}); }},
        {R"({"p":2.1})", [](Fields& f) { f.number("p", {0.0, 2.0}); }},
        {R"({"p":0})", [](Fields& f) { f.number("p", {0.0, 1.0, true}); }},
        {R"({"p":1.5})", [](Fields& f) { f.integer("p"); }},
        {R"({"p":1e300})", [](Fields& f) { f.integer("p"); }},
        {R"({"p":0})", [](Fields& f) { f.integer("p", {1, 8}); }},
        {R"({"p":9})", [](Fields& f) { f.integer("p", {1, 8}); }},
        {R"({"p":18446744073709551615})", [](Fields& f) { f.integer("p"); }},
        {R"({"p":-1})", [](Fields& f) { f.size("p"); }},
        {R"({"p":"true"})", [](Fields& f) { f.flag("p"); }},
        {R"({"p":{}})", [](Fields& f) { f.array("p"); }},
        {R"({"p":[]})", [](Fields& f) { f.object("p"); }},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text);
        read(c.text);
        c.read(*fields_);
        EXPECT_EQ(param(), "p");
        EXPECT_EQ(fields_->failure()->error.code, ErrorCode::bad_input);
    }
}

TEST_F(FieldsTest, WhatNobodyAskedForIsUnknownWithItsPath) {
    read(R"({"a":1,"b":null,"c":{"d":1,"e":2},"f":3,"g":4,"h":{"i":1}})");
    fields_->integer("a");
    fields_->text("b");
    fields_->text("absent");
    Fields part(*fields_->object("c"), fields_->path_of("c"));
    part.integer("d");
    fields_->adopt(part);
    fields_->allow({"g", "absent too"});
    Fields open(*fields_->object("h"), "h");
    open.allow_all();
    fields_->adopt(open);
    EXPECT_EQ(fields_->unknown(), (std::vector<std::string>{"f", "c.e"}));
    EXPECT_EQ(param(), "(no failure)");
}

TEST_F(FieldsTest, TheListOfUnknownNamesIsBounded) {
    std::string text = "{";
    for (int i = 0; i < 10'000; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
    read((text + "}").c_str());
    EXPECT_EQ(fields_->unknown().size(), Fields::kMaxUnknown);
}

TEST_F(FieldsTest, TheFirstFailureStays) {
    read(R"({"a":1,"b":2})");
    fields_->text("b");
    fields_->text("a");
    EXPECT_EQ(param(), "b");
}

TEST(Failure, SurvivesTheWire) {
    const Failure sent{{ErrorCode::context_exceeded, "9 tokens, 8 fit"}, "messages"};
    const Failure got = failure_from_json(to_json(sent, "invalid_request_error"));
    EXPECT_EQ(got.error.code, sent.error.code);
    EXPECT_EQ(got.error.message, sent.error.message);
    EXPECT_EQ(got.param, sent.param);
    EXPECT_EQ(failure_from_json(json::value("oops")).error.code, ErrorCode::internal);
}

TEST(Paths, FollowTheEnvironmentAndFallBackToHome) {
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
                             "XDG_RUNTIME_DIR", "HEARTH_SOCKET"})
        ::unsetenv(name);
    ::setenv("HOME", "/home/somebody", 1);
    EXPECT_EQ(user_paths().socket, "/home/somebody/.local/state/hearth/run/hearth.sock");
    EXPECT_EQ(user_paths().data, "/home/somebody/.local/share/hearth");
    ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    ::setenv("XDG_CONFIG_HOME", "relative/is/ignored", 1);
    EXPECT_EQ(user_paths().socket, "/run/user/7/hearth/hearth.sock");
    EXPECT_EQ(user_paths().config, "/home/somebody/.config/hearth");
    ::setenv("HEARTH_SOCKET", "/elsewhere/h.sock", 1);
    EXPECT_EQ(user_paths().socket, "/elsewhere/h.sock");
}

}  // namespace
