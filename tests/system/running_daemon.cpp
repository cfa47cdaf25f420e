#include "tests/system/running_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>

namespace hearth::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Our own environment without what would point a daemon elsewhere.
std::vector<std::string> environment_in(const std::string& root) {
    std::vector<std::string> list;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!text.starts_with("XDG_") && !text.starts_with("HEARTH_") && !text.starts_with("HOME="))
            list.push_back(text);
    }
    list.push_back("HOME=" + root);
    list.push_back("XDG_RUNTIME_DIR=" + root + "/run");
    for (const char* name : {"CONFIG", "DATA", "STATE", "CACHE"})
        list.push_back("XDG_" + std::string(name) + "_HOME=" + root + "/" + name);
    return list;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

}  // namespace

bool becomes_true(const std::function<bool()>& question) {
    for (const auto end = Clock::now() + std::chrono::seconds(20); Clock::now() < end;) {
        if (question()) return true;
        ::poll(nullptr, 0, 5);
    }
    return question();
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

RunningDaemon::RunningDaemon(const DaemonOptions& options)
    : arguments_(options.arguments),
      root_(folder_.path()),
      client_(root_ / "run/hearth/hearth.sock") {
    // A developer's own daemon may hold the usual port.
    arguments_.insert(arguments_.begin(), {"--port", "0"});
    if (!options.worker.empty()) arguments_.insert(arguments_.end(), {"--worker", options.worker});
    start_again();
}

void RunningDaemon::start_again() {
    pid_ = spawn(arguments_);
    if (becomes_true(
            [this] { return client_.answers() || ::waitpid(pid_, nullptr, WNOHANG) != 0; }) &&
        client_.answers())
        return;
    std::cerr << "hearthd did not start:\n" << text_of(root_ / "stderr") << log();
    std::abort();
}

RunningDaemon::~RunningDaemon() {
    if (pid_ != 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

pid_t RunningDaemon::spawn(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {HEARTH_BIN_DIR "/hearthd"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_in(root_);
    const std::string errors = root_ / "stderr";
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    // Not ours: a test program that crashes must not leave its pipe in the hands of a daemon.
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    pid_t pid = 0;
    HEARTH_CHECK(::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers_to(words).data(),
                               pointers_to(variables).data()) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    return pid;
}

std::string RunningDaemon::log() const { return text_of(root_ / "STATE/hearth/logs/hearthd.log"); }

int RunningDaemon::run_another(const std::vector<std::string>& arguments) const {
    int status = 0;
    ::waitpid(spawn(arguments), &status, 0);
    return exit_code(status);
}

int RunningDaemon::terminate() {
    ::kill(pid_, SIGTERM);
    return wait();
}

void RunningDaemon::kill_hard() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

int RunningDaemon::wait() {
    int status = 0;
    for (const auto end = Clock::now() + std::chrono::seconds(6); Clock::now() < end;) {
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = 0;
            return exit_code(status);
        }
        ::poll(nullptr, 0, 5);
    }
    return -1;
}

std::string RunningDaemon::import(const std::string& path, const std::string& name) const {
    const auto imported = client_.import_model({path, name, protocol::Link::automatic});
    if (imported) return imported->model.id;
    std::cerr << "the import of " << path << " failed: " << imported.error().message << "\n";
    std::abort();
}

}  // namespace hearth::testing
