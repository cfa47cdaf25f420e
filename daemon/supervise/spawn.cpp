// posix_spawn with everything that must not leak closed.
#include "daemon/supervise/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace hearth::supervise {
namespace {

Error system_error(const std::string& what, int number) {
    const ErrorCode code = number == ENOENT ? ErrorCode::not_found : ErrorCode::io_failed;
    return Error{code, what + ": " + std::strerror(number)};
}

// The child's whole environment. TZ stays because chat templates ask for the local date.
std::vector<std::string> child_environment() {
    std::vector<std::string> environment = {"LANG=C.UTF-8"};
    if (const char* zone = std::getenv("TZ")) environment.push_back(std::string("TZ=") + zone);
    return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (std::string& text : strings) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

class FileActions {
public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    posix_spawn_file_actions_t* get() { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

class Attributes {
public:
    Attributes() {
        posix_spawnattr_init(&attributes_);
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes_, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes_, &signals);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() { posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_;
};

}  // namespace

void Child::kill() const {
    // By system call: glibc 2.36 declares the function without C linkage.
    if (process_) syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
}

std::string Child::reap(bool wait) {
    siginfo_t info{};
    const int flags = WEXITED | (wait ? 0 : WNOHANG);
    int result = 0;
    do {
        result = waitid(P_PID, static_cast<id_t>(pid_), &info, flags);
    } while (result != 0 && errno == EINTR);
    if (result != 0) return "unknown";  // somebody else reaped it
    if (info.si_pid == 0) return "";
    const char* kind = info.si_code == CLD_EXITED ? "exit code " : "signal ";
    return kind + std::to_string(info.si_status);
}

Result<Child> spawn(const SpawnOrder& order) {
    // Sources move above every target, so that no dup2 overwrites one that is still needed.
    const int count = static_cast<int>(order.descriptors.size());
    std::vector<Descriptor> sources;
    FileActions actions;
    for (int target = 0; target < count; ++target) {
        const int source = order.descriptors[static_cast<std::size_t>(target)];
        sources.emplace_back(fcntl(source, F_DUPFD_CLOEXEC, count));
        if (!sources.back()) return system_error("cannot duplicate a descriptor", errno);
        posix_spawn_file_actions_adddup2(actions.get(), sources.back().get(), target);
    }
    posix_spawn_file_actions_addclosefrom_np(actions.get(), count);

    std::vector<std::string> arguments = {order.program};
    arguments.insert(arguments.end(), order.arguments.begin(), order.arguments.end());
    std::vector<std::string> environment = child_environment();
    const Attributes attributes;
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, order.program.c_str(), actions.get(), attributes.get(),
                                   pointers(arguments).data(), pointers(environment).data());
    if (failed != 0) return system_error("cannot start " + order.program, failed);

    Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!process) {
        const int number = errno;
        ::kill(pid, SIGKILL);  // our own child, not reaped: the number is still its
        waitpid(pid, nullptr, 0);
        return system_error("cannot watch " + order.program, number);
    }
    return Child(pid, std::move(process));
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<std::pair<Descriptor, Descriptor>> make_socket_pair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return system_error("cannot make a socket pair", errno);
    }
    return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

Result<Descriptor> open_regular(const std::string& path) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return system_error("cannot open " + path, errno);
    struct stat facts{};
    if (fstat(file.get(), &facts) != 0) return system_error("cannot look at " + path, errno);
    if (!S_ISREG(facts.st_mode)) {
        return Error{ErrorCode::bad_input, path + " is not a regular file"};
    }
    return file;
}

Result<Descriptor> open_null() {
    Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) return system_error("cannot open /dev/null", errno);
    return null;
}

}  // namespace hearth::supervise
