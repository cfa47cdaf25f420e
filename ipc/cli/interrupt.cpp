#include "ipc/cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "engine/base/check.h"

namespace hearth::cli {
namespace {

// What a signal handler may touch: plain file descriptors and a lock-free flag.
std::array<int, 2> pipe_ends = {-1, -1};
std::atomic<bool> was_raised = false;
struct sigaction earlier = {};

void on_signal(int /*number*/) {
    const int saved = errno;
    was_raised = true;
    [[maybe_unused]] const auto written = write(pipe_ends[1], "x", 1);
    errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
    HEARTH_CHECK(pipe_ends[0] < 0);
    HEARTH_CHECK(pipe2(pipe_ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    was_raised = false;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &earlier);
}

Interrupt::~Interrupt() {
    sigaction(SIGINT, &earlier, nullptr);
    for (int& end : pipe_ends) {
        close(end);
        end = -1;
    }
}

bool Interrupt::raised() const { return was_raised; }

void Interrupt::clear() {
    was_raised = false;
    std::array<char, 16> scratch{};
    while (read(pipe_ends[0], scratch.data(), scratch.size()) > 0) {
    }
}

int Interrupt::descriptor() const { return pipe_ends[0]; }

}  // namespace hearth::cli
