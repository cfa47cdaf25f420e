// The log as `hearth logs` reads it.
#include "ipc/cli/log_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/paths.h"

using namespace hearth::cli;
using Lines = std::vector<std::string>;

namespace {

std::string line(char level, const std::string& text) {
    return std::string("2026-01-31 23:59:59.123 ") + level + " " + text;
}

class LogReaderTest : public ::testing::Test {
protected:
    void append(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.file(name), std::ios::app) << text;
    }

    hearth::testing::TempDir folder_;
};

TEST_F(LogReaderTest, TheLastLinesComeFromOlderFilesToo) {
    append("hearthd.2.log", "one\ntwo\n");
    append("hearthd.1.log", "three\nfour\n");
    append("hearthd.log", "five\n");
    EXPECT_EQ(LogReader(folder_.path(), "debug").last(3), (Lines{"three", "four", "five"}));
    EXPECT_EQ(LogReader(folder_.path(), "debug").last(100).size(), 5U);
    EXPECT_EQ(LogReader(folder_.path(), "debug").last(0), Lines{});
}

TEST_F(LogReaderTest, ALevelLeavesOutWhatIsLessImportant) {
    append("hearthd.1.log", line('D', "d1") + "\n" + line('E', "e1") + "\n");
    append("hearthd.log",
           line('I', "i") + "\n" + line('W', "w") + "\nno level\n" + line('E', "e") + "\n");
    EXPECT_EQ(LogReader(folder_.path(), "warning").last(10),
              (Lines{line('E', "e1"), line('W', "w"), "no level", line('E', "e")}));
    EXPECT_EQ(LogReader(folder_.path(), "error").last(2), (Lines{"no level", line('E', "e")}));
}

TEST_F(LogReaderTest, FollowingGivesWholeLinesOverAChangeOfFiles) {
    LogReader reader(folder_.path(), "debug");
    EXPECT_FALSE(reader.has_files());
    EXPECT_EQ(reader.last(10), Lines{});
    append("hearthd.log", "one\ntw");
    EXPECT_EQ(reader.more(), Lines{"one"});
    EXPECT_EQ(reader.more(), Lines{});
    append("hearthd.log", "o\nthree\n");
    EXPECT_EQ(reader.more(), (Lines{"two", "three"}));
    append("hearthd.log", "four\n");
    std::filesystem::rename(folder_.file("hearthd.log"), folder_.file("hearthd.1.log"));
    append("hearthd.log", "five\n");
    EXPECT_EQ(reader.more(), (Lines{"four", "five"}));
    append("hearthd.log", "six\n");
    EXPECT_EQ(reader.more(), Lines{"six"});
}

TEST_F(LogReaderTest, WhatWasShownIsNotShownAgain) {
    append("hearthd.log", "one\n");
    LogReader reader(folder_.path(), "debug");
    EXPECT_EQ(reader.last(10), Lines{"one"});
    EXPECT_EQ(reader.more(), Lines{});
    append("hearthd.log", "two\n");
    EXPECT_EQ(reader.more(), Lines{"two"});
}

}  // namespace
