// T043: whatever a template manages to call, there is nothing behind it: the library of the
// template engine refers to no function that opens files, starts programs or reaches network or
// environment.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

namespace {

// The names that the library leaves to others, without versions.
std::set<std::string> undefined_symbols() {
    const std::string command = "nm -u -P " CHAT_LIBRARY " 2>/dev/null";
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
    std::set<std::string> names;
    std::array<char, 4096> line{};
    while (output && std::fgets(line.data(), static_cast<int>(line.size()), output.get())) {
        const std::string text = line.data();
        names.insert(text.substr(0, text.find_first_of(" @\n")));
    }
    return names;
}

TEST(T043, TheEngineRefersToNothingThatReachesOutside) {
    const std::set<std::string> names = undefined_symbols();
    ASSERT_GT(names.size(), 50U) << "nm has listed nothing";
    for (const std::string name :
         {"open",    "open64",      "openat",       "openat64",    "creat",         "fopen",
          "fopen64", "freopen",     "opendir",      "readlink",    "unlink",        "remove",
          "rename",  "mkdir",       "stat",         "stat64",      "lstat",         "access",
          "socket",  "connect",     "bind",         "getaddrinfo", "gethostbyname", "send",
          "sendto",  "fork",        "vfork",        "clone",       "execve",        "execv",
          "execvp",  "posix_spawn", "posix_spawnp", "system",      "popen",         "kill",
          "ptrace",  "dlopen",      "dlsym",        "getenv",      "secure_getenv", "setenv",
          "putenv",  "environ",     "syscall",      "mmap",        "mmap64"})
        EXPECT_FALSE(names.contains(name)) << name;
    for (const std::string& name : names)  // the library's own ways to files
        EXPECT_TRUE(name.find("10filesystem") == std::string::npos &&
                    name.find("basic_ifstream") == std::string::npos &&
                    name.find("basic_ofstream") == std::string::npos &&
                    name.find("basic_filebuf") == std::string::npos)
            << name;
}

}  // namespace
