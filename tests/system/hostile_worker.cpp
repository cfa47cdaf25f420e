// A worker as an attacker would run it who took over the process after the sandbox closed: it tries
// everything that a worker must not do and tells on its error stream what worked, then breaks the
// protocol as a prompt asks.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>

#include "daemon/worker/sandbox.h"
#include "ipc/worker/blocking.h"
#include "ipc/worker/codec.h"

using namespace hearth;
using namespace hearth::wire;

namespace {

constexpr int kSocket = 3;
constexpr int kModel = 4;

void say(std::uint64_t request, const FromWorker& message) {
    const auto bytes = encode(request, message);
    if (!bytes || !write_frame(kSocket, *bytes)) _exit(3);
}

void send_raw(std::string_view bytes) {
    if (!write_frame(kSocket, bytes)) _exit(3);
}

// The file to look for stands in the model as its name.
std::string canary_path() {
    char text[600];
    const ssize_t count = pread(kModel, text, sizeof text, 0);
    std::string model(text, count > 0 ? static_cast<std::size_t>(count) : 0);
    constexpr std::string_view kName = "\"name\":\"";
    model.erase(0, model.find(kName) + kName.size());
    return model.substr(0, model.find('"'));
}

void report(const std::string& what, long result) {
    std::cerr << what << ": "
              << (result >= 0 ? std::string("SUCCEEDED") : std::string(std::strerror(errno)))
              << '\n';
}

template <typename Address>
int connect_to(const Address& address, int family) {
    const int socket_fd = socket(family, SOCK_STREAM, 0);
    // reinterpret_cast: the sockets' own way of passing addresses.
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    return socket_fd < 0 ? -1 : connect(socket_fd, plain, sizeof address);
}

void try_everything() {
    const std::string canary = canary_path();
    report("read the canary", open(canary.c_str(), O_RDONLY));
    report("read a folder", open("/", O_RDONLY | O_DIRECTORY));
    report("read the users", open("/etc/passwd", O_RDONLY));
    report("write beside it", open((canary + ".new").c_str(), O_WRONLY | O_CREAT, 0600));
    report("write the canary", open(canary.c_str(), O_WRONLY | O_TRUNC));
    report("remove the canary", unlink(canary.c_str()));
    report("rename the canary", rename(canary.c_str(), (canary + ".new").c_str()));
    report("truncate the canary", truncate(canary.c_str(), 0));
    sockaddr_in tcp{};
    tcp.sin_family = AF_INET;
    tcp.sin_port = htons(80);
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    report("connect by TCP", connect_to(tcp, AF_INET));
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    report("connect by a socket", connect_to(local, AF_UNIX));
    report("run a program", execl("/bin/sh", "sh", "-c", "true", nullptr));
    report("make a process", fork());
    report("trace the daemon", ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr));
    report("signal the daemon", kill(getppid(), 0));
    report("look into the daemon",
           open(("/proc/" + std::to_string(getppid()) + "/environ").c_str(), O_RDONLY));
    report("write the model", pwrite(kModel, "x", 1, 0));
    std::cerr << "tried everything\n";
}

void attack(std::uint64_t request, const std::string& how) {
    const auto accepted = encode(request, FromWorker(Accepted{1, {1}}));
    if (how == "length") send_raw(std::string("\xff\xff\xff\xff", 4) + std::string(100, '\xff'));
    if (how == "kind") send_raw(encode_frame(static_cast<Kind>(999), request, "{}"));
    if (how == "json") send_raw(encode_frame(Kind::accepted, request, "{\"prompt_tokens\":"));
    if (how == "depth") send_raw(encode_frame(Kind::accepted, request, std::string(100'000, '[')));
    if (how == "stray") send_raw(*encode(request + 77, FromWorker(Done{})));
    if (how == "flood") {
        send_raw(*accepted);
        for (std::uint64_t i = 0; i < 1000; ++i) say(request, Delta{.number = i, .text = "x"});
        say(request, Delta{.number = 3, .text = "out of turn"});
    }
}

// A prompt that was accepted comes as ids when another process goes on with it.
std::string how_of(const Generate& order) {
    const auto* text = std::get_if<TextPrompt>(&order.prompt);
    return text != nullptr ? text->text : "flood";
}

int serve() {
    auto sandbox = worker::enter_sandbox();
    if (!sandbox) return 5;
    FrameReader reader;
    while (true) {
        const auto frame = read_frame(kSocket, reader);
        if (!frame || !*frame) return 0;
        const auto message = decode_to_worker(**frame);
        if (!message) return 4;
        if (std::holds_alternative<Load>(*message)) {
            try_everything();
            Ready ready;
            ready.model.architecture = "fake";
            ready.sandbox = *sandbox;
            say(0, ready);
        }
        if (std::holds_alternative<StatsRequest>(*message)) say(0, Stats{});
        if (std::holds_alternative<Shutdown>(*message)) return 0;
        if (const auto* order = std::get_if<Generate>(&*message))
            attack((*frame)->request, how_of(*order));
    }
}

}  // namespace

int main(int argc, char** argv) {
    signal(SIGPIPE, SIG_IGN);
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "serve") return serve();
    if (command != "tool" || argc < 5) return 2;
    // Inspection prints the file.
    char text[4000];
    const ssize_t count = pread(std::atoi(argv[4]), text, sizeof text, 0);
    if (count > 0) std::cout << std::string_view(text, static_cast<std::size_t>(count));
    return 0;
}
