// The Unix socket against other users, other daemons, and with sockets that a service manager
// passed on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "daemon/net/socket_file.h"
#include "daemon/net/tcp_port.h"
#include "ipc/protocol/version.h"
#include "tests/security/tcp_daemon.h"

using namespace hearth;
using namespace hearth::testing;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kNobody = 65534;
constexpr int kNoConnection = 40;
constexpr int kClosedWithoutAWord = 41;
constexpr int kAnswered = 42;

// What another user gets who asks at `path`; the exit code of a process of theirs.
int ask_as_nobody(const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(99);
        RawSocket socket = RawSocket::to_path(path);
        if (!socket.is_open()) ::_exit(kNoConnection);
        (void)socket.write("GET /health HTTP/1.1\r\n\r\n");
        ::_exit(socket.read().status == 0 ? kClosedWithoutAWord : kAnswered);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(T074, AnotherUserIsRefusedAlsoThroughACopyOfTheEntry) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs another user to be";
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {}});
    ASSERT_EQ(::chmod(daemon.root().c_str(), 0755), 0);
    EXPECT_EQ(ask_as_nobody(daemon.socket()), kNoConnection);
    // The same socket where everybody may reach it: the kernel still says who asks.
    const fs::path copy = daemon.root() / "open.sock";
    fs::create_hard_link(daemon.socket(), copy);
    ASSERT_EQ(::chmod(copy.c_str(), 0666), 0);
    EXPECT_EQ(ask_as_nobody(copy), kClosedWithoutAWord);
    EXPECT_TRUE(becomes_true([&] {
        return daemon.log().find("a connection of another user was refused") != std::string::npos;
    }));
    EXPECT_EQ(daemon.log().find("GET"), std::string::npos);
    EXPECT_TRUE(daemon.client().answers());
}

TEST(T152, OfTwentyDaemonsStartedAtOnceOneServes) {
    RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {}});
    ASSERT_EQ(daemon.terminate(), 0);
    std::atomic<int> already = 0;
    std::atomic<int> ended_well = 0;
    std::vector<std::thread> starters;
    for (int i = 0; i < 20; ++i)
        starters.emplace_back([&] {
            const int code = daemon.run_another({"--tcp", "off", "--worker", FAKE_WORKER});
            already += code == protocol::kExitAlreadyRunning ? 1 : 0;
            ended_well += code == 0 ? 1 : 0;
        });
    EXPECT_TRUE(becomes_true([&] { return already == 19; })) << already;
    EXPECT_TRUE(daemon.client().answers());
    EXPECT_TRUE(daemon.client().shutdown());
    for (std::thread& starter : starters) starter.join();
    EXPECT_EQ(ended_well, 1);
}

TEST(T117, AnotherRuntimeFolderDoesNotOpenTheSameData) {
    const RunningDaemon daemon({.worker = FAKE_WORKER, .arguments = {}});
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(daemon.run_another({"--socket", daemon.root() / "other/hearth.sock"}),
              protocol::kExitAlreadyRunning);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    EXPECT_FALSE(fs::exists(daemon.root() / "other/hearth.sock"));
    EXPECT_TRUE(daemon.client().answers());
}

// A hearthd that inherits listening sockets, as a service manager starts it.
class Activated {
public:
    Activated(const std::vector<int>& sockets, const fs::path& root) {
        pid_ = ::fork();
        if (pid_ != 0) return;
        std::vector<int> safe;
        for (const int socket : sockets) safe.push_back(::fcntl(socket, F_DUPFD, 100));
        for (std::size_t i = 0; i < safe.size(); ++i) ::dup2(safe[i], 3 + static_cast<int>(i));
        const auto set = [](const char* name, const std::string& value) {
            ::setenv(name, value.c_str(), 1);
        };
        set("LISTEN_PID", std::to_string(::getpid()));
        set("LISTEN_FDS", std::to_string(sockets.size()));
        set("HOME", root);
        set("XDG_RUNTIME_DIR", root / "run");
        for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"})
            set(("XDG_" + std::string(name) + "_HOME").c_str(), root / name);
        ::execl(HEARTH_BIN_DIR "/hearthd", "hearthd", "--port", "0", "--worker", FAKE_WORKER,
                nullptr);
        ::_exit(98);
    }
    ~Activated() { terminate(); }
    Activated(const Activated&) = delete;
    Activated& operator=(const Activated&) = delete;

    int terminate() {
        if (pid_ == 0) return -1;
        ::kill(pid_, SIGTERM);
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = 0;
};

int tcp_listener(std::uint32_t address) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(address);
    // reinterpret_cast is how the socket interface takes addresses.
    EXPECT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(descriptor, 16), 0);
    return descriptor;
}

TEST(Activation, InheritedSocketsReplaceOurOwnAndStayWhenWeGo) {
    const TempDir folder;
    const fs::path path = folder.path() / "run/hearth/hearth.sock";
    fs::create_directories(folder.path() / "run");
    auto made = net::SocketFile::listen(path);  // as the manager would; its lock is let go of
    ASSERT_TRUE(made);
    const int local = made->take_descriptor();
    const int tcp = tcp_listener(INADDR_LOOPBACK);
    // Only the socket stays: the lock is the daemon's.
    fs::rename(path, folder.path() / "kept");
    {
        const net::SocketFile gone = *std::move(made);
    }
    fs::rename(folder.path() / "kept", path);
    Activated daemon({tcp, local}, folder.path());  // in any order
    const client::Client client(path);
    ASSERT_TRUE(becomes_true([&] { return client.answers(); }));
    const auto status = client.status();
    ASSERT_TRUE(status);
    EXPECT_EQ(status->pid, daemon.pid());
    sockaddr_in name{};
    socklen_t size = sizeof name;
    // reinterpret_cast is how the socket interface gives addresses.
    ::getsockname(tcp, reinterpret_cast<sockaddr*>(&name), &size);
    const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(name.sin_port)) + "/v1";
    EXPECT_EQ(status->tcp.base_url, url);
    // It was really passed on. Others than root may not look (T160).
    const std::string environment = text_of("/proc/" + std::to_string(daemon.pid()) + "/environ");
    EXPECT_EQ(environment.find("LISTEN_FDS=2") != std::string::npos, ::geteuid() == 0);
    EXPECT_EQ(daemon.terminate(), 0);
    EXPECT_TRUE(fs::is_socket(path));
    ::close(local);
    ::close(tcp);
}

TEST(Activation, AnInheritedSocketForTheWholeNetworkIsRefused) {
    const TempDir folder;
    fs::create_directories(folder.path() / "run");
    const int tcp = tcp_listener(INADDR_ANY);
    const Activated daemon({tcp}, folder.path());
    ::close(tcp);
    const client::Client client(folder.path() / "run/hearth/hearth.sock");
    ASSERT_TRUE(becomes_true([&] { return client.answers(); }));
    const auto status = client.status();
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->tcp.on);
    EXPECT_NE(status->tcp.reason.find("0.0.0.0"), std::string::npos) << status->tcp.reason;
}

TEST(Activation, DescriptorsThatAreNoSocketsOfOursAreClosed) {
    const TempDir folder;
    fs::create_directories(folder.path() / "run");
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const Activated daemon({file}, folder.path());
    ::close(file);
    const client::Client client(folder.path() / "run/hearth/hearth.sock");
    ASSERT_TRUE(becomes_true([&] { return client.answers(); }));
    EXPECT_NE(text_of(folder.path() / "STATE/hearth/logs/hearthd.log").find("descriptor 3"),
              std::string::npos);
}

}  // namespace
