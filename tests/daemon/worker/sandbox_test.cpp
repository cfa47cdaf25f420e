// Each case runs in a child that enters the sandbox and then tries something; its exit code is the
// errno it met.
#include "daemon/worker/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace hearth;
using namespace hearth::worker;

namespace {

constexpr int kAllowed = 0;
constexpr int kNoSandbox = 200;

// 0 when `result` says success, else errno.
int outcome(long result) { return result >= 0 ? kAllowed : errno; }

int run_confined(const SandboxOptions& options, int (*attempt)()) {
    const pid_t child = fork();
    if (child == 0) {
        const auto sandbox = enter_sandbox(options);
        if (!sandbox || !sandbox->seccomp || !sandbox->no_new_privileges) _exit(kNoSandbox);
        _exit(attempt());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 300 + WTERMSIG(status);
}

struct Case {
    const char* name;
    int expected;
    int (*attempt)();
};

constexpr Case kCases[] = {
    {"socket", EPERM, [] { return outcome(socket(AF_INET, SOCK_STREAM, 0)); }},
    {"unix socket", EPERM, [] { return outcome(socket(AF_UNIX, SOCK_STREAM, 0)); }},
    {"program", EPERM, [] { return outcome(execl("/bin/true", "true", nullptr)); }},
    {"process", EPERM, [] { return outcome(fork()); }},
    {"signal to another process", EPERM, [] { return outcome(kill(getppid(), 0)); }},
    {"more privileges", EPERM, [] { return outcome(setuid(0)); }},
    {"writing a file", EPERM,
     [] { return outcome(open("/tmp/hearth-sandbox-test", O_WRONLY | O_CREAT, 0600)); }},
    {"writing a device", EPERM, [] { return outcome(open("/dev/null", O_RDWR)); }},
    {"removing a file", EPERM, [] { return outcome(unlink("/tmp/hearth-sandbox-test")); }},
    {"a thread", kAllowed,
     [] {
         int ran = 1;
         std::thread([&] { ran = kAllowed; }).join();
         return ran;
     }},
    {"memory", kAllowed,
     [] {
         void* volatile memory = std::malloc(64U << 20U);
         std::free(memory);
         return memory != nullptr ? kAllowed : 1;
     }},
    {"the size of memory", kAllowed, [] { return outcome(open("/proc/meminfo", O_RDONLY)); }},
    {"the number of cores", kAllowed,
     [] { return outcome(open("/sys/devices/system/cpu/online", O_RDONLY)); }},
    {"no core dump", kAllowed,
     [] {
         rlimit limit{};
         getrlimit(RLIMIT_CORE, &limit);
         return limit.rlim_max == 0 ? kAllowed : 1;
     }},
    {"abort still ends the process by its signal", 300 + SIGABRT,
     [] {
         std::abort();
         return 0;
     }},
};

TEST(Sandbox, ForbidsWhatAModelFileHasNoBusinessWith) {
    for (const Case& c : kCases) EXPECT_EQ(run_confined({}, c.attempt), c.expected) << c.name;
}

TEST(Sandbox, WithLandlockOtherFilesCannotBeRead) {
    const pid_t child = fork();
    if (child == 0) {
        const auto sandbox = enter_sandbox();
        if (!sandbox) _exit(kNoSandbox);
        if (sandbox->landlock == 0) _exit(sandbox->missing.empty() ? 1 : 201);
        _exit(outcome(open("/etc/passwd", O_RDONLY)));
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 201) GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(WEXITSTATUS(status), EACCES);
}

TEST(Sandbox, AnOpenDescriptorStaysReadable) {
    static int file = open("/etc/passwd", O_RDONLY);
    ASSERT_GE(file, 0);
    EXPECT_EQ(run_confined({},
                           [] {
                               char byte = 0;
                               return outcome(read(file, &byte, 1));
                           }),
              kAllowed);
    close(file);
}

TEST(Sandbox, AWritableFolderTakesNewFilesAndRenamesAndNothingElseDoes) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / ("hearth-" + std::string(6, 'X'))).string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    static std::string folder;
    folder = pattern;
    std::ofstream(folder + "/in") << "x";
    const SandboxOptions options{.readable = {folder + "/in"}, .writable_folder = folder};
    EXPECT_EQ(run_confined(
                  options,
                  [] {
                      const int in = open((folder + "/in").c_str(), O_RDONLY);
                      const int out =
                          open((folder + "/part").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
                      if (in < 0 || out < 0 || write(out, "y", 1) != 1 || fsync(out) != 0) return 1;
                      const int itself = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
                      if (itself < 0 || fsync(itself) != 0) return 2;
                      return outcome(rename((folder + "/part").c_str(), (folder + "/out").c_str()));
                  }),
              kAllowed);
    EXPECT_TRUE(std::filesystem::exists(folder + "/out"));
    EXPECT_NE(run_confined(options, [] { return outcome(socket(AF_INET, SOCK_STREAM, 0)); }),
              kAllowed);
    std::filesystem::remove_all(folder);
}

}  // namespace
