// Starts a child with exactly the descriptors it is given, in a process group of its own, with a
// fixed environment, no blocked and no ignored signals.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "daemon/supervise/descriptor.h"
#include "engine/base/result.h"

namespace hearth::supervise {

struct SpawnOrder {
    std::string program;  // a path
    std::vector<std::string> arguments;
    std::vector<int> descriptors;  // become 0, 1, 2, … in the child; all others are closed there
};

// A child that has not been reaped: signals go through the process descriptor, so that they never
// reach another process that got the same number.
class Child {
public:
    Child() = default;
    Child(pid_t pid, Descriptor process) : pid_(pid), process_(std::move(process)) {}

    pid_t pid() const { return pid_; }
    int descriptor() const { return process_.get(); }  // readable when the child has ended
    void kill() const;
    // How it ended ("exit code 1", "signal 9"), empty while it runs. Reaps it: call until not
    // empty.
    std::string reap(bool wait);

private:
    pid_t pid_ = 0;
    Descriptor process_;
};

// not_found when the program is not there, io_failed for the rest.
Result<Child> spawn(const SpawnOrder& order);

struct Pipe {
    Descriptor read;
    Descriptor write;
};
// Both ends close on exec. io_failed.
Result<Pipe> make_pipe();
// Two ends of a connected stream socket, close on exec. io_failed.
Result<std::pair<Descriptor, Descriptor>> make_socket_pair();
// Opens without blocking on a FIFO or device. not_found; io_failed; bad_input for all but regular
// files.
Result<Descriptor> open_regular(const std::string& path);
Result<Descriptor> open_null();

}  // namespace hearth::supervise
