#include "ipc/worker/utf8.h"

#include <gtest/gtest.h>

using hearth::wire::repair_utf8;

namespace {

struct Case {
    const char* name;
    std::string_view in;
    std::string_view out;
};
constexpr Case kCases[] = {
    {"plain and wide characters stay", "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
     "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"lone continuation", "a\x80z", "a\xEF\xBF\xBDz"},
    {"cut character", "\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"overlong slash", "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"surrogate", "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"past U+10FFFF", "\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"nothing", "", ""},
};

TEST(Utf8, WhatIsNotACharacterBecomesAReplacement) {
    for (const Case& c : kCases) EXPECT_EQ(repair_utf8(c.in), c.out) << c.name;
}

}  // namespace
