// Mapping takes regular files only and never waits for a FIFO or a device (T012).
#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace hearth {
namespace {

class MappedFiles : public testing::Test {
protected:
    void SetUp() override {
        // Unique per process: tests of two builds may run at once.
        folder_ =
            std::filesystem::temp_directory_path() / ("hearth-map-" + std::to_string(getpid()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const char* name) const { return (folder_ / name).string(); }

    void expect_refused(const std::string& path, ErrorCode code) const {
        SCOPED_TRACE(path);
        const auto start = std::chrono::steady_clock::now();
        const auto mapped = MappedFile::open(path);
        const auto took = std::chrono::steady_clock::now() - start;
        ASSERT_FALSE(mapped.has_value());
        EXPECT_EQ(to_string(mapped.error().code), to_string(code)) << mapped.error().message;
        EXPECT_NE(mapped.error().message.find(path), std::string::npos);
        EXPECT_LT(took, std::chrono::seconds(3));
    }

    std::filesystem::path folder_;
};

TEST_F(MappedFiles, BytesOfAFileAreThere) {
    std::ofstream(path("file"), std::ios::binary) << "hello";
    auto mapped = MappedFile::open(path("file"));
    ASSERT_TRUE(mapped.has_value());
    ASSERT_EQ(mapped->bytes().size(), 5U);
    EXPECT_EQ(std::memcmp(mapped->bytes().data(), "hello", 5), 0);

    const MappedFile moved = *std::move(mapped);
    EXPECT_EQ(moved.bytes().size(), 5U);
    EXPECT_EQ(static_cast<char>(moved.bytes()[4]), 'o');
}

TEST_F(MappedFiles, AnEmptyFileHasNoBytes) {
    std::ofstream(path("empty"), std::ios::binary).flush();
    const auto mapped = MappedFile::open(path("empty"));
    ASSERT_TRUE(mapped.has_value());
    EXPECT_TRUE(mapped->bytes().empty());
}

TEST_F(MappedFiles, TheMappingOutlivesTheNameAndTheDescriptor) {
    std::ofstream(path("file"), std::ios::binary) << "still here";
    const int descriptor = open(path("file").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    const auto mapped = MappedFile::from_descriptor(descriptor, "the model");
    close(descriptor);
    std::filesystem::remove(path("file"));
    ASSERT_TRUE(mapped.has_value());
    EXPECT_EQ(std::memcmp(mapped->bytes().data(), "still here", 10), 0);
}

TEST_F(MappedFiles, MissingFilesAreNotFound) {
    expect_refused(path("absent"), ErrorCode::not_found);
}

TEST_F(MappedFiles, T012_DirectoriesAreRefused) {
    expect_refused(folder_.string(), ErrorCode::unsupported_format);
}

TEST_F(MappedFiles, T012_FifosAreRefusedWithoutWaiting) {
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    expect_refused(path("fifo"), ErrorCode::unsupported_format);
}

TEST_F(MappedFiles, T012_DevicesAreRefusedWithoutWaiting) {
    for (const char* device : {"/dev/zero", "/dev/random", "/dev/null"})
        expect_refused(device, ErrorCode::unsupported_format);
}

TEST_F(MappedFiles, T012_SocketsAreRefused) {
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(listener, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string name = path("socket");
    ASSERT_LT(name.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, name.c_str(), name.size());
    // The socket calls take every kind of address through this one type.
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    expect_refused(name, ErrorCode::io_failed);
    close(listener);
}

TEST_F(MappedFiles, T012_LoopsOfLinksAreRefused) {
    std::filesystem::create_symlink(path("b"), path("a"));
    std::filesystem::create_symlink(path("a"), path("b"));
    expect_refused(path("a"), ErrorCode::io_failed);
}

TEST_F(MappedFiles, ABadDescriptorIsNamed) {
    const auto mapped = MappedFile::from_descriptor(-1, "the model");
    ASSERT_FALSE(mapped.has_value());
    EXPECT_EQ(mapped.error().code, ErrorCode::io_failed);
    EXPECT_NE(mapped.error().message.find("the model"), std::string::npos);
}

}  // namespace
}  // namespace hearth
