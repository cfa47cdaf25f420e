// A real hearthd in a process of its own, with all its folders in a temporary one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ipc/client/client.h"
#include "tests/support/paths.h"

namespace hearth::testing {

struct DaemonOptions {
    std::string worker;  // empty: hearth-worker beside hearthd
    std::vector<std::string> arguments;
};

class RunningDaemon {
public:
    // Starts it and waits until it answers; a daemon that does not ends the test program.
    explicit RunningDaemon(const DaemonOptions& options = {});
    ~RunningDaemon();  // kills what still runs; the folder goes
    RunningDaemon(const RunningDaemon&) = delete;
    RunningDaemon& operator=(const RunningDaemon&) = delete;

    const client::Client& client() const { return client_; }
    const std::filesystem::path& root() const { return root_; }
    std::string socket() const { return client_.socket_path(); }
    pid_t pid() const { return pid_; }
    std::string log() const;

    // Runs another hearthd on the same folders until it ends; its exit code.
    int run_another(const std::vector<std::string>& arguments = {}) const;
    // Starts another on the same folders; the caller waits for it.
    pid_t spawn_another() const { return spawn(arguments_); }
    // SIGTERM, then wait().
    int terminate();
    // The exit code; -1 when it does not end within 6 s.
    int wait();
    // SIGKILL: nothing is cleaned up.
    void kill_hard();
    // After terminate(): the same folders, the same arguments.
    void start_again();
    // The id of the imported model.
    std::string import(const std::string& path, const std::string& name = {}) const;

private:
    pid_t spawn(const std::vector<std::string>& arguments) const;

    std::vector<std::string> arguments_;
    TempDir folder_;
    std::filesystem::path root_;
    client::Client client_;
    pid_t pid_ = 0;
};

// Asks again and again, for at most 20 s. A daemon's state has no event to wait for.
bool becomes_true(const std::function<bool()>& question);

// The content of a file.
std::string text_of(const std::filesystem::path& path);

}  // namespace hearth::testing
