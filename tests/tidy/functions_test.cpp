// The tidy limits are only as good as the scanner that finds functions.
#include "tests/tidy/functions.h"

#include <gtest/gtest.h>

namespace hearth::tidy {
namespace {

SourceFile file_of(std::vector<std::string> lines) {
    SourceFile file;
    file.path = "engine/x/y.cpp";
    file.folder = "engine/x";
    file.lines = lines;
    file.code = std::move(lines);
    return file;
}

TEST(FunctionScanner, CountsLinesFromSignatureToClosingBrace) {
    const auto found =
        functions_of(file_of({"namespace a {", "int f(int x,", "      int y) {", "    if (x) {",
                              "        return y;", "    }", "    return 0;", "}", "}"}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "f");
    EXPECT_EQ(found[0].lines, 7);
    EXPECT_EQ(found[0].parameters, 2);
}

TEST(FunctionScanner, SeesConstructorsMembersAndTemplateParameters) {
    const auto found = functions_of(
        file_of({"class A {", "public:", "    explicit A(std::map<int, int> m)",
                 "        : m_{std::move(m)} {}", "    void g() const { h(); }", "};"}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "A");
    EXPECT_EQ(found[0].parameters, 1);
    EXPECT_EQ(found[1].name, "g");
    EXPECT_EQ(found[1].parameters, 0);
}

TEST(FunctionScanner, DoesNotTakeTablesForFunctions) {
    EXPECT_TRUE(
        functions_of(file_of({"constexpr Case kCases[] = {", "    {f(1), 2},", "};"})).empty());
}

}  // namespace
}  // namespace hearth::tidy
