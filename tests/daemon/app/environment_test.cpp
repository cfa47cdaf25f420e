// Whatever the environment is that hearthd starts in, it works, and its children get none of it.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

namespace fs = std::filesystem;

// See T160.
constexpr const char* kClosed = "only root may look into the processes of Hearth";

std::set<int> descriptors_of(pid_t pid) {
    std::set<int> numbers;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
        numbers.insert(std::atoi(entry.path().filename().c_str()));
    return numbers;
}

// In octal, as the kernel writes it.
unsigned long flags_of(pid_t pid, int descriptor) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/fdinfo/" + std::to_string(descriptor));
    std::string name;
    std::string value;
    while (file >> name >> value)
        if (name == "flags:") return std::strtoul(value.c_str(), nullptr, 8);
    return 0;
}

std::set<std::string> environment_of(pid_t pid) {
    const std::string text = text_of("/proc/" + std::to_string(pid) + "/environ");
    std::set<std::string> names;
    for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
        names.insert(text.substr(at, text.find('=', at) - at));
    return names;
}

// T157: what daemon, worker and helper hold open and inherit.
TEST(T157, OnlyTheDescriptorsAndVariablesThatAreMeantReachAWorker) {
    if (::geteuid() != 0) GTEST_SKIP() << kClosed;
    ::setenv("PLANTED_SECRET", "canary", 1);
    // A descriptor that whoever starts hearthd forgot to close.
    const int stray = ::open("/dev/null", O_RDONLY);
    const RunningDaemon daemon;
    ::close(stray);
    ::unsetenv("PLANTED_SECRET");
    daemon.import(tiny_model_path(), "tiny");  // runs the helper that inspects
    ASSERT_TRUE(daemon.client().load("tiny"));
    const pid_t worker = daemon.client().status().value().models.at(0).pid;
    const std::set<std::string> allowed = {"LANG", "TZ"};
    for (const std::string& name : environment_of(worker))
        EXPECT_TRUE(allowed.contains(name)) << name;
    // Its three streams and the socket; the model's descriptor is closed once it is loaded.
    for (const int number : descriptors_of(worker)) EXPECT_LE(number, 4) << number;
}

// T119: while it loads and after, a worker holds its streams, its socket and at most the model.
TEST(T119, AWorkerHoldsNoDatabaseNoTokenNoLockAndNoOtherSocket) {
    if (::geteuid() != 0) GTEST_SKIP() << kClosed;
    const RunningDaemon daemon;
    daemon.import(tiny_model_path(), "tiny");
    ASSERT_TRUE(daemon.client().load("tiny"));
    const pid_t worker = daemon.client().status().value().models.at(0).pid;
    int sockets = 0;
    for (const int number : descriptors_of(worker)) {
        const std::string link =
            "/proc/" + std::to_string(worker) + "/fd/" + std::to_string(number);
        const std::string what = fs::read_symlink(link);
        sockets += what.starts_with("socket:") ? 1 : 0;
        const bool is_meant =
            what == "/dev/null" || what.starts_with("pipe:") || what.starts_with("socket:");
        EXPECT_TRUE(is_meant) << number << " is " << what;
    }
    EXPECT_EQ(sockets, 1);
}

TEST(T157, EveryDescriptorOfTheDaemonClosesOnExec) {
    if (::geteuid() != 0) GTEST_SKIP() << kClosed;
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {}});
    daemon.import(fake_model_file(daemon, "fake"));
    protocol::CompletionRequest request;
    request.prompts = {"count 3"};
    ASSERT_TRUE(daemon.client().complete(request));
    auto open = client::Connection::open(daemon.socket(), -1);
    ASSERT_TRUE(open);
    ASSERT_TRUE(daemon.client().answers());
    int seen = 0;
    for (const int number : descriptors_of(daemon.pid())) {
        if (number <= 2) continue;
        const std::string link =
            "/proc/" + std::to_string(daemon.pid()) + "/fd/" + std::to_string(number);
        std::error_code gone;
        const std::string what = fs::read_symlink(link, gone);
        if (gone) continue;
        ++seen;
        // What the test program itself left open for its children is not the daemon's doing.
        if (flags_of(::getpid(), number) != 0 &&
            fs::read_symlink("/proc/self/fd/" + std::to_string(number), gone) == what)
            continue;
        EXPECT_NE(flags_of(daemon.pid(), number) & static_cast<unsigned long>(O_CLOEXEC), 0UL)
            << number << " is " << what;
    }
    EXPECT_GT(seen, 5);
}

// T156: starts a daemon as a shell would after `prelude`, in an environment of its own.
class T156 : public ::testing::Test {
protected:
    void start(const std::string& prelude, std::vector<std::string> variables) {
        variables.push_back("HOME=" + folder_.file("home"));
        variables.push_back("XDG_RUNTIME_DIR=" + folder_.file("run"));
        std::string command = "mkdir -p '" + folder_.file("gone") + "'; " + prelude + " exec '" +
                              HEARTH_BIN_DIR "/hearthd' --port 0 --worker '" + worker_ + "'";
        std::vector<std::string> words = {"/bin/sh", "-c", command};
        std::vector<char*> arguments;
        std::vector<char*> environment;
        for (std::string& word : words) arguments.push_back(word.data());
        for (std::string& variable : variables) environment.push_back(variable.data());
        arguments.push_back(nullptr);
        environment.push_back(nullptr);
        ASSERT_EQ(
            ::posix_spawn(&pid_, "/bin/sh", nullptr, nullptr, arguments.data(), environment.data()),
            0);
        ASSERT_TRUE(becomes_true([&] { return client_.answers(); })) << prelude;
    }
    ~T156() override {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    void expect_it_works() {
        const auto imported =
            client_.import_model({tiny_model_path(), "tiny", protocol::Link::copy});
        ASSERT_TRUE(imported) << imported.error().message;
        protocol::CompletionRequest request;
        request.prompts = {"The sea"};
        request.options.max_tokens = 4;
        request.options.temperature = 0.0;
        const auto reply = client_.complete(request);
        ASSERT_TRUE(reply) << reply.error().message;
        // Numbers keep their dot: a comma would not be JSON, and this reads it.
        const auto status = client_.get("/hearth/v1/status");
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_GT(status->at("uptime_s").to_number<double>(), 0);
        const auto metrics = client_.send({.method = "GET", .target = "/metrics"});
        ASSERT_TRUE(metrics);
        EXPECT_NE(metrics->body.find("hearth_uptime_seconds 0."), std::string::npos);
        for (const pid_t worker : workers())
            EXPECT_FALSE(environment_of(worker).contains("LC_ALL"));
    }
    std::vector<pid_t> workers() {
        std::vector<pid_t> pids;
        const auto status = client_.status();
        EXPECT_TRUE(status && !status->models.empty());
        if (status)
            for (const auto& model : status->models) pids.push_back(model.pid);
        return pids;
    }

    TempDir folder_;
    std::string worker_ = HEARTH_BIN_DIR "/hearth-worker";
    client::Client client_{folder_.file("run/hearth/hearth.sock")};
    pid_t pid_ = 0;
};

TEST_F(T156, OddLocalesTimeZonesAndAnEmptyPath) {
    start("PATH=;", {"LANG=tr_TR.UTF-8", "LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8",
                     "TZ=:/etc/nowhere", "PATH=/usr/bin:/bin"});
    expect_it_works();
}

TEST_F(T156, PreloadedLibrariesAreNotPassedOn) {
    // The loader says on the error stream that it cannot preload this, and goes on.
    start("", {"LD_LIBRARY_PATH=/nowhere", "LD_PRELOAD=/nowhere/hook.so", "PATH=/usr/bin:/bin"});
    expect_it_works();
    for (const pid_t worker : workers()) {
        EXPECT_FALSE(environment_of(worker).contains("LD_LIBRARY_PATH"));
        EXPECT_FALSE(environment_of(worker).contains("LD_PRELOAD"));
        EXPECT_FALSE(environment_of(worker).contains("PATH"));
    }
}

TEST_F(T156, AnOpenUmaskGivesNobodyAccess) {
    start("umask 000;", {"PATH=/usr/bin:/bin"});
    expect_it_works();
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
        if (entry.path() == folder_.path() / "gone" || entry.path() == folder_.path() / "home" ||
            entry.path() == folder_.path() / "run")
            continue;
        EXPECT_EQ(
            entry.symlink_status().permissions() & (fs::perms::others_all | fs::perms::group_all),
            fs::perms::none)
            << entry.path();
    }
}

TEST_F(T156, ClosedStreamsBecomeNoSocketOrFileOfOurs) {
    if (::geteuid() != 0) GTEST_SKIP() << kClosed;
    start("exec <&- >&- 2>&-;", {"PATH=/usr/bin:/bin"});
    expect_it_works();
    for (const int number : {0, 1, 2}) {
        const std::string link = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(number);
        EXPECT_EQ(fs::read_symlink(link), "/dev/null") << number;
    }
}

TEST_F(T156, ADeletedWorkingDirectory) {
    start("cd '" + folder_.file("gone") + "'; rmdir '" + folder_.file("gone") + "';",
          {"PATH=/usr/bin:/bin"});
    expect_it_works();
}

}  // namespace
