#include "daemon/access/token_file.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace hearth::access {
namespace {

constexpr std::string_view kRevoked = "revoked";
constexpr std::size_t kRandomBytes = 32;
// What an owner writes by hand is a token too, when nobody can guess it.
constexpr std::size_t kShortest = 24;
constexpr std::size_t kLongest = 512;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    int get() const { return number_; }
    bool is_open() const { return number_ >= 0; }

private:
    int number_;
};

Error system_error(const std::string& what) {
    return {ErrorCode::io_failed, what + ": " + std::strerror(errno)};
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The folder of the token, ours and closed to the pens of others.
Result<Descriptor> open_folder(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);  // 0700: see the umask in main.cpp
    Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open())
        return system_error("the folder of the token, " + folder.string() + ", cannot be opened");
    struct stat info{};
    if (::fstat(opened.get(), &info) != 0) return system_error(folder.string());
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::forbidden,
                     "the folder of the token, " + folder.string() + ", belongs to another user"};
    if ((info.st_mode & 0022U) != 0 && ::fchmod(opened.get(), info.st_mode & 07755U) != 0)
        return system_error("the folder " + folder.string() + " cannot be closed to others");
    return opened;
}

std::string random_token() {
    std::array<unsigned char, kRandomBytes> bytes{};
    if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
    std::string token = "hearth-";
    for (const unsigned char byte : bytes) {
        constexpr std::string_view kHex = "0123456789abcdef";
        token += kHex[byte >> 4U];
        token += kHex[byte & 15U];
    }
    return token;
}

bool write_whole(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Beside the old one, synced, then renamed over it: a rename replaces a link and never follows it.
Result<void> replace(int folder, const std::string& path, std::string_view text) {
    const std::string name = name_in(path);
    const std::string fresh = name + ".new";
    ::unlinkat(folder, fresh.c_str(), 0);  // left by a crash
    const Descriptor file(::openat(folder, fresh.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.is_open()) return system_error("the token " + path + " cannot be written");
    const bool written = ::fchmod(file.get(), 0600) == 0 && write_whole(file.get(), text) &&
                         write_whole(file.get(), "\n") && ::fsync(file.get()) == 0 &&
                         ::renameat(folder, fresh.c_str(), folder, name.c_str()) == 0;
    if (written && ::fsync(folder) == 0) return {};
    const Error error = system_error("the token " + path + " cannot be written");
    ::unlinkat(folder, fresh.c_str(), 0);
    return error;
}

Result<std::string> make_token(int folder, const std::string& path) {
    const std::string token = random_token();
    if (token.empty()) return Error{ErrorCode::internal, "the system gave no random bytes"};
    HEARTH_TRY_VOID(replace(folder, path, token));
    return token;
}

Result<void> check_file(int file, const std::string& path) {
    struct stat info{};
    if (::fstat(file, &info) != 0) return system_error(path);
    if (!S_ISREG(info.st_mode))
        return Error{ErrorCode::forbidden, "the token " + path + " is not a file"};
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::forbidden, "the token " + path + " belongs to another user"};
    if ((info.st_mode & 0077U) != 0)
        return Error{ErrorCode::forbidden, "others may read the token " + path +
                                               "; replace it with: hearth token rotate"};
    return {};
}

Result<std::string> parse(std::string text, const std::string& path) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (text == kRevoked) return std::string();
    bool is_plain = text.size() >= kShortest && text.size() <= kLongest;
    for (const char c : text) is_plain = is_plain && c > ' ' && c < 0x7F;
    if (is_plain) return text;
    return Error{ErrorCode::forbidden, "the token " + path +
                                           " is not one line of 24 to 512 visible characters; "
                                           "replace it with: hearth token rotate"};
}

// Nothing when there is no file.
Result<std::optional<std::string>> read(int folder, const std::string& path) {
    const Descriptor file(::openat(folder, name_in(path).c_str(),
                                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file.is_open()) {
        if (errno == ENOENT) return std::optional<std::string>();
        if (errno == ELOOP)
            return Error{ErrorCode::forbidden, "the token " + path + " is a symbolic link"};
        return system_error("the token " + path + " cannot be read");
    }
    HEARTH_TRY_VOID(check_file(file.get(), path));
    std::array<char, kLongest + 3> buffer{};  // a longer one is seen to be too long
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return system_error("the token " + path + " cannot be read");
    HEARTH_TRY(std::string token,
               parse(std::string(buffer.data(), static_cast<std::size_t>(got)), path));
    return std::optional<std::string>(std::move(token));
}

}  // namespace

Result<std::string> TokenFile::read_or_make() const {
    HEARTH_TRY(const Descriptor folder, open_folder(path_));
    HEARTH_TRY(auto token, read(folder.get(), path_));
    if (token) return *std::move(token);
    return make_token(folder.get(), path_);
}

Result<std::string> TokenFile::rotate() const {
    HEARTH_TRY(const Descriptor folder, open_folder(path_));
    return make_token(folder.get(), path_);
}

Result<void> TokenFile::revoke() const {
    HEARTH_TRY(const Descriptor folder, open_folder(path_));
    return replace(folder.get(), path_, kRevoked);
}

}  // namespace hearth::access
