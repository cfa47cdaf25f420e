// What the command line writes is readable, aligned, and cannot drive the terminal.
#include "ipc/cli/output.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(Output, SizesAreWrittenAsPeopleReadThem) {
    EXPECT_EQ(human_size(0), "0 B");
    EXPECT_EQ(human_size(999), "999 B");
    EXPECT_EQ(human_size(1000), "1.00 kB");
    EXPECT_EQ(human_size(98'362'432), "98.4 MB");
    EXPECT_EQ(human_size(7'250'000'000'000'000), "7250.0 TB");
    EXPECT_EQ(human_count(134'515'008), "134.5 M");
    EXPECT_EQ(human_count(42), "42");
}

TEST(Output, DurationsHaveTwoUnits) {
    EXPECT_EQ(human_seconds(7.9), "7 s");
    EXPECT_EQ(human_seconds(200), "3 min 20 s");
    EXPECT_EQ(human_seconds(7384), "2 h 3 min");
    EXPECT_EQ(human_seconds(2 * 86400 + 3 * 3600 + 5), "2 d 3 h");
}

TEST(Output, ControlCharactersAreShownAndNotSent) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
    EXPECT_EQ(printable("tab\tand\nline"), "tab\tand\nline");
    EXPECT_EQ(printable("\x7f\r"), "\\x7f\\x0d");
    EXPECT_EQ(printable("\xc2\x9b"
                        "1m"),
              "\\x9b"
              "1m")
        << "CSI as one character of C1";
    EXPECT_EQ(printable("Zürich 你好 🙂"), "Zürich 你好 🙂");
}

TEST(Output, TablesAlignByCharactersAndPutNumbersRight) {
    ::testing::internal::CaptureStdout();
    print_table({{"NAME"}, {"SIZE", true}}, {{"Zürich", "7"}, {"b", "1234"}});
    EXPECT_EQ(::testing::internal::GetCapturedStdout(),
              "NAME     SIZE\n"
              "Zürich      7\n"
              "b        1234\n");
}

}  // namespace
}  // namespace hearth::cli
