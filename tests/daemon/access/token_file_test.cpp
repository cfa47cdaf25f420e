// The file of the token: made for its owner alone, refused when others had a hand in it.
#include "daemon/access/token_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::access;
namespace fs = std::filesystem;

namespace {

constexpr const char* kByHand = "a-token-that-its-owner-chose";

class T073 : public ::testing::Test {
protected:
    T073() { fs::create_directories(path_.parent_path()); }

    void write(const fs::path& path, const std::string& text, unsigned mode = 0600) const {
        std::ofstream(path) << text;
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    }
    static unsigned mode_of(const fs::path& path) {
        struct stat info{};
        EXPECT_EQ(::lstat(path.c_str(), &info), 0);
        return info.st_mode & 07777U;
    }
    static std::string text_of(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    ErrorCode refusal() const {
        const auto token = file_.read_or_make();
        EXPECT_FALSE(token);
        return token ? ErrorCode::internal : token.error().code;
    }
    bool only_the_token_is_there() const {
        const fs::directory_iterator all(path_.parent_path());
        return std::distance(begin(all), end(all)) == 1;
    }

    const hearth::testing::TempDir folder_;
    const fs::path path_ = folder_.path() / "config/hearth/token";
    const TokenFile file_{path_};
};

TEST_F(T073, IsMadeForItsOwnerAloneWhateverTheMask) {
    for (const mode_t mask : {0000U, 0022U, 0077U}) {
        fs::remove_all(path_.parent_path());
        const mode_t before = ::umask(mask);
        const auto token = file_.read_or_make();
        ::umask(before);
        ASSERT_TRUE(token) << token.error().message;
        EXPECT_EQ(mode_of(path_), 0600U);
        EXPECT_EQ(mode_of(path_.parent_path()) & 022U, 0U);
        EXPECT_TRUE(token->starts_with("hearth-"));
        EXPECT_EQ(token->size(), 7U + 64U);
        EXPECT_EQ(*file_.read_or_make(), *token);
        EXPECT_TRUE(only_the_token_is_there());
    }
}

TEST_F(T073, ALinkIsNeverFollowed) {
    const fs::path elsewhere = folder_.path() / "elsewhere";
    fs::create_symlink(elsewhere, path_);
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
    EXPECT_FALSE(fs::exists(elsewhere));
    write(elsewhere, kByHand);
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
    // A link in the place of the file that is written beside it is not followed either.
    fs::create_symlink(elsewhere, path_.string() + ".new");
    const auto token = file_.rotate();
    ASSERT_TRUE(token) << token.error().message;
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path_)));
    EXPECT_EQ(text_of(elsewhere), kByHand);
    EXPECT_TRUE(only_the_token_is_there());
}

TEST_F(T073, WhatOthersCouldReadOrWriteIsRefused) {
    for (const unsigned mode : {0640U, 0604U, 0660U, 0666U, 0610U}) {
        write(path_, kByHand, mode);
        EXPECT_EQ(refusal(), ErrorCode::forbidden) << mode;
    }
    ASSERT_TRUE(file_.rotate());
    EXPECT_EQ(mode_of(path_), 0600U);
    EXPECT_TRUE(file_.read_or_make());
}

TEST_F(T073, AFolderThatOthersMayReadIsFineAndOneThatTheyMayWriteIsClosed) {
    for (const auto& [before, after] : {std::pair(0750U, 0750U), {0777U, 0755U}, {0770U, 0750U}}) {
        ASSERT_EQ(::chmod(path_.parent_path().c_str(), before), 0);
        const auto token = file_.read_or_make();
        ASSERT_TRUE(token) << token.error().message;
        EXPECT_EQ(mode_of(path_.parent_path()), after);
        EXPECT_EQ(mode_of(path_), 0600U);
    }
}

TEST_F(T073, WhatIsNoTokenIsRefusedWithoutAPause) {
    for (const char* text : {"", "short", "two words that are long enough here", "\x01\x02"}) {
        write(path_, text);
        EXPECT_EQ(refusal(), ErrorCode::forbidden) << text;
    }
    write(path_, std::string(513, 'a'));
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
    write(path_, std::string(kByHand) + "\n");
    EXPECT_EQ(*file_.read_or_make(), kByHand);
    fs::remove(path_);
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);  // must not wait for a writer
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
    fs::remove(path_);
    fs::create_directory(path_);
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
}

TEST_F(T073, AFileInThePlaceOfTheFolderIsAnError) {
    fs::remove_all(path_.parent_path());
    write(path_.parent_path(), "x");
    EXPECT_EQ(refusal(), ErrorCode::io_failed);
}

// What `work` gives as exit code of a child that runs as nobody; root's rights would hide faults.
template <typename Work>
int as_another_user(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t kNobody = 65534;
        if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(99);
        ::_exit(work());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(T073, ForeignFilesAndFoldersAndThoseThatCannotBeWrittenAreErrors) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs another user to be";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod((folder_.path() / "config").c_str(), 0755), 0);
    const auto code = [this] {
        const auto token = file_.read_or_make();
        return token ? 0 : 1 + static_cast<int>(token.error().code);
    };
    // The folder is root's.
    ASSERT_EQ(::chmod(path_.parent_path().c_str(), 0777), 0);
    EXPECT_EQ(as_another_user(code), 1 + static_cast<int>(ErrorCode::forbidden));
    // The folder is theirs, the file is root's.
    write(path_, kByHand);
    ASSERT_EQ(::chown(path_.parent_path().c_str(), 65534, 65534), 0);
    EXPECT_NE(as_another_user(code), 0);
    ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
    EXPECT_EQ(as_another_user(code), 1 + static_cast<int>(ErrorCode::forbidden));
    // All theirs, but the folder cannot be written.
    fs::remove(path_);
    ASSERT_EQ(::chmod(path_.parent_path().c_str(), 0555), 0);
    EXPECT_EQ(as_another_user(code), 1 + static_cast<int>(ErrorCode::io_failed));
    ASSERT_EQ(::chmod(path_.parent_path().c_str(), 0700), 0);
    EXPECT_EQ(as_another_user(code), 0);
    // And we do not take theirs.
    EXPECT_EQ(refusal(), ErrorCode::forbidden);
}

TEST_F(T073, ARevokedTokenStaysRevokedUntilItIsReplaced) {
    const auto first = file_.read_or_make();
    ASSERT_TRUE(first);
    ASSERT_TRUE(file_.revoke());
    EXPECT_EQ(*file_.read_or_make(), "");
    EXPECT_EQ(mode_of(path_), 0600U);
    const auto second = file_.rotate();
    ASSERT_TRUE(second);
    EXPECT_NE(*second, *first);
    EXPECT_EQ(*file_.read_or_make(), *second);
    EXPECT_TRUE(only_the_token_is_there());
}

}  // namespace
