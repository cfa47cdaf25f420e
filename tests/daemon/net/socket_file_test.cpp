// The socket's file: private, exclusive, replaced only when it is stale.
#include "daemon/net/socket_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::net;
namespace fs = std::filesystem;

namespace {

class SocketFileTest : public ::testing::Test {
protected:
    // A socket that somebody bound; listening or left behind.
    int bind_socket(bool listening) const {
        fs::create_directories(root_ / "run");
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path_.copy(address.sun_path, sizeof address.sun_path - 1);
        // reinterpret_cast is how the socket interface takes addresses.
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        EXPECT_EQ(::bind(descriptor, generic, sizeof address), 0);
        EXPECT_EQ(listening ? ::listen(descriptor, 5) : 0, 0);
        return descriptor;
    }
    static unsigned mode_of(const fs::path& path) {
        struct stat info{};
        EXPECT_EQ(::stat(path.c_str(), &info), 0);
        return info.st_mode & 0777U;
    }

    const hearth::testing::TempDir folder_;
    const fs::path root_ = folder_.path();
    const std::string path_ = root_ / "run" / "hearth.sock";
};

class T149 : public SocketFileTest {};

TEST_F(SocketFileTest, IsPrivateAndGoesWithItsOwner) {
    {
        const auto file = SocketFile::listen(path_);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(mode_of(path_), 0600U);
        EXPECT_EQ(mode_of(root_ / "run"), 0700U);
    }
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_TRUE(SocketFile::listen(path_));
}

TEST_F(SocketFileTest, AnOpenFolderIsClosed) {
    fs::create_directories(root_ / "run");
    fs::permissions(root_ / "run", fs::perms::all);
    ASSERT_TRUE(SocketFile::listen(path_));
    EXPECT_EQ(mode_of(root_ / "run"), 0700U);
}

TEST_F(SocketFileTest, ASecondDaemonIsToldWhoRuns) {
    const auto first = SocketFile::listen(path_);
    ASSERT_TRUE(first);
    const auto second = SocketFile::listen(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::busy);
    EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(T149, AStaleSocketIsReplaced) {
    ::close(bind_socket(false));
    ASSERT_TRUE(fs::exists(path_));
    EXPECT_TRUE(SocketFile::listen(path_));
}

TEST_F(T149, ALiveSocketAndAForeignFileAreLeftAlone) {
    const int live = bind_socket(true);
    const auto beside = SocketFile::listen(path_);
    ASSERT_FALSE(beside);
    EXPECT_EQ(beside.error().code, ErrorCode::busy);
    EXPECT_TRUE(fs::is_socket(path_));
    ::close(live);
    fs::remove(path_);
    std::ofstream(path_) << "precious";
    const auto over = SocketFile::listen(path_);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, ErrorCode::io_failed);
    EXPECT_EQ(fs::file_size(path_), 8U);
}

TEST_F(T149, AFolderAndALinkAreLeftAlone) {
    fs::create_directories(root_ / "run" / "hearth.sock");
    const auto over_folder = SocketFile::listen(path_);
    ASSERT_FALSE(over_folder);
    EXPECT_EQ(over_folder.error().code, ErrorCode::io_failed);
    EXPECT_NE(over_folder.error().message.find("in the way"), std::string::npos);
    fs::remove(path_);
    std::ofstream(root_ / "target") << "precious";
    fs::create_symlink(root_ / "target", path_);
    EXPECT_FALSE(SocketFile::listen(path_));
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_EQ(fs::file_size(root_ / "target"), 8U);
}

TEST_F(SocketFileTest, APassedSocketIsLockedButItsFileStays) {
    const int passed = bind_socket(true);
    {
        auto file = SocketFile::adopt(path_, passed);
        ASSERT_TRUE(file) << file.error().message;
        const auto second = SocketFile::listen(path_);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ErrorCode::busy);
    }
    EXPECT_TRUE(fs::is_socket(path_));
}

TEST_F(SocketFileTest, PathsThatCannotBeSocketsAreErrors) {
    EXPECT_EQ(SocketFile::listen("/" + std::string(200, 'a')).error().code, ErrorCode::bad_input);
    EXPECT_EQ(SocketFile::listen("/hearth.sock").error().code, ErrorCode::bad_input);
    std::ofstream(root_ / "file") << "x";
    EXPECT_EQ(SocketFile::listen(root_ / "file" / "hearth.sock").error().code,
              ErrorCode::io_failed);
}

}  // namespace
