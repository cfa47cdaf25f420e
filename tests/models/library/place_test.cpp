// Files come in whole, stay recognisable, and go only when they are ours.
#include "models/library/place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/library/sha256.h"
#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::library;
namespace fs = std::filesystem;

namespace {

// From the standard's own examples (FIPS 180-2, appendix B).
constexpr const char* kHashOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class PlaceTest : public ::testing::Test {
protected:
    PlaceTest() {
        folders_ = {root_ / "models", root_ / "partial"};
        EXPECT_TRUE(make_folders(folders_));
    }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(root_ / name) << text;
        return root_ / name;
    }
    static std::string read(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    Result<Placed> import(const std::string& path, Placement placement) {
        HEARTH_TRY(const HashedFile hashed, hash_file(real_files(), path, stop_));
        return place_file(real_files(), hashed, {placement, folders_, "m.gguf"}, stop_);
    }
    bool partial_is_empty() const { return fs::is_empty(folders_.partial); }

    const hearth::testing::TempDir folder_;
    const fs::path root_ = folder_.path();
    Folders folders_;
    std::atomic<bool> stop_ = false;
};

TEST(Sha256, GivesTheStandardsExamples) {
    Sha256 hash;
    for (const char c : {'a', 'b', 'c'}) hash.update(std::as_bytes(std::span(&c, 1)));
    EXPECT_EQ(hash.finish(), kHashOfAbc);
    EXPECT_EQ(Sha256().finish(),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(PlaceTest, EveryWayGivesTheSameContent) {
    const std::string source = write("abc", "abc");
    for (const Placement placement : {Placement::automatic, Placement::copy, Placement::hardlink}) {
        SCOPED_TRACE(static_cast<int>(placement));
        const auto placed = import(source, placement);
        ASSERT_TRUE(placed) << placed.error().message;
        EXPECT_EQ(placed->file.path, folders_.models + "/m.gguf");
        EXPECT_EQ(read(placed->file.path), "abc");
        EXPECT_EQ(placed->file.sha256, kHashOfAbc);
        EXPECT_FALSE(placed->file.in_place);
        EXPECT_EQ(state_of(placed->file), FileState::ok);
        EXPECT_EQ(fs::hard_link_count(source), placement == Placement::copy ? 1U : 2U);
        EXPECT_TRUE(partial_is_empty());
        fs::remove(placed->file.path);
    }
}

TEST_F(PlaceTest, AFileUsedInPlaceStaysWhereItIs) {
    const auto placed = import(write("abc", "abc"), Placement::in_place);
    ASSERT_TRUE(placed);
    EXPECT_EQ(placed->file.path, root_ / "abc");
    EXPECT_TRUE(placed->file.in_place);
    EXPECT_TRUE(fs::is_empty(folders_.models));
}

TEST_F(PlaceTest, LeftOversOfThatNameAreReplaced) {
    write("models/m.gguf", "of an import that was cut off");
    for (const Placement placement : {Placement::hardlink, Placement::copy}) {
        const auto placed = import(write("abc", "abc"), placement);
        ASSERT_TRUE(placed) << placed.error().message;
        EXPECT_EQ(read(placed->file.path), "abc");
    }
}

TEST_F(PlaceTest, WhatIsNoRegularFileIsRefusedAtOnce) {
    const std::string fifo = root_ / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    fs::create_symlink("loop", root_ / "loop");
    const struct {
        std::string path;
        ErrorCode code;
    } cases[] = {
        {fifo, ErrorCode::bad_input},           {"/dev/zero", ErrorCode::bad_input},
        {root_, ErrorCode::bad_input},          {root_ / "absent", ErrorCode::not_found},
        {root_ / "loop", ErrorCode::not_found},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.path);
        const auto placed = import(c.path, Placement::automatic);
        ASSERT_FALSE(placed);
        EXPECT_EQ(placed.error().code, c.code);
    }
}

TEST_F(PlaceTest, AStopLeavesNothing) {
    const std::string source = write("abc", "abc");
    auto hashed = hash_file(real_files(), source, stop_);
    ASSERT_TRUE(hashed);
    stop_ = true;
    EXPECT_EQ(hash_file(real_files(), source, stop_).error().code, ErrorCode::cancelled);
    const auto placed =
        place_file(real_files(), *hashed, {Placement::copy, folders_, "m.gguf"}, stop_);
    // A file system with reflinks copies in one call, which cannot be stopped.
    if (!placed) {
        EXPECT_EQ(placed.error().code, ErrorCode::cancelled);
        EXPECT_TRUE(fs::is_empty(folders_.models));
    }
    EXPECT_TRUE(partial_is_empty());
}

TEST_F(PlaceTest, ASourceThatChangesAfterItWasHashedIsRefused) {
    const std::string source = write("abc", "abc");
    const auto hashed = hash_file(real_files(), source, stop_);
    ASSERT_TRUE(hashed);
    std::ofstream(source) << "abcdef";
    const auto placed =
        place_file(real_files(), *hashed, {Placement::copy, folders_, "m.gguf"}, stop_);
    ASSERT_FALSE(placed);
    EXPECT_EQ(placed.error().code, ErrorCode::io_failed);
    EXPECT_TRUE(fs::is_empty(folders_.models));
    EXPECT_TRUE(partial_is_empty());
}

TEST_F(PlaceTest, AChangedAndAMissingFileAreReported) {
    const auto placed = import(write("abc", "abc"), Placement::in_place);
    ASSERT_TRUE(placed);
    Package package;
    package.id = "m";
    package.files = {placed->file};
    EXPECT_EQ(complaint_about(package), "");
    std::ofstream(root_ / "abc") << "abcd";
    EXPECT_EQ(state_of(placed->file), FileState::changed);
    EXPECT_NE(complaint_about(package).find("import it again"), std::string::npos);
    fs::remove(root_ / "abc");
    EXPECT_EQ(state_of(placed->file), FileState::missing);
    EXPECT_NE(complaint_about(package).find("gone"), std::string::npos);
}

TEST_F(PlaceTest, OnlyOurOwnFilesAreDeleted) {
    Package package;
    package.files = {{write("ours", "x"), {}, "", false}, {write("theirs", "x"), {}, "", true}};
    EXPECT_TRUE(delete_files(real_files(), package));
    EXPECT_FALSE(fs::exists(root_ / "ours"));
    EXPECT_TRUE(fs::exists(root_ / "theirs"));
    EXPECT_TRUE(delete_files(real_files(), package));  // once more is no error
}

}  // namespace
