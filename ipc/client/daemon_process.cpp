#include "ipc/client/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ipc/protocol/paths.h"
#include "ipc/protocol/version.h"

namespace hearth::client {
namespace {

using Clock = std::chrono::steady_clock;

// Where hearthd's own words go until it has its log: read back when it does not start.
Result<std::string> start_log() {
    const std::string folder = protocol::user_paths().state + "/logs";
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem)
        return Error{ErrorCode::io_failed, folder + " cannot be made: " + problem.message()};
    return folder + "/start.log";
}

std::string tail_of(const std::string& path) {
    constexpr std::size_t kTail = 2000;
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (text.size() > kTail) text.erase(0, text.size() - kTail);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

class SpawnSettings {
public:
    explicit SpawnSettings(const std::string& log) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions_, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                           0600);
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
    }
    ~SpawnSettings() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

Result<pid_t> spawn(const std::string& program, const std::string& socket, const std::string& log,
                    const StartOptions& options) {
    std::vector<std::string> words = {program};
    if (socket != protocol::user_paths().socket) words.insert(words.end(), {"--socket", socket});
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const SpawnSettings settings(log);
    pid_t pid = 0;
    const int problem = ::posix_spawn(&pid, program.c_str(), settings.actions(),
                                      settings.attributes(), arguments.data(), environ);
    if (problem != 0)
        return Error{ErrorCode::io_failed,
                     program + " could not be started: " + std::strerror(problem)};
    return pid;
}

// Exit code of the child when it has ended; nothing while it runs.
std::optional<int> exit_code_of(pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<std::string> program_beside_us(std::string_view name) {
    std::error_code problem;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
    if (problem) return Error{ErrorCode::io_failed, "our own program was not found"};
    const std::string program = self.parent_path() / name;
    if (::access(program.c_str(), X_OK) != 0)
        return Error{ErrorCode::not_found, "there is no program " + std::string(name) + " at " +
                                               program + "; is Hearth installed whole?"};
    return program;
}

Result<void> start_daemon(const Client& client, const StartOptions& options) {
    std::string program = options.program;
    if (program.empty()) {
        HEARTH_TRY(program, program_beside_us("hearthd"));
    }
    HEARTH_TRY(const std::string log, start_log());
    HEARTH_TRY(const pid_t pid, spawn(program, client.socket_path(), log, options));
    bool running = true;
    for (const auto deadline = Clock::now() + options.patience; Clock::now() < deadline;) {
        if (client.answers()) return {};
        if (const auto code = running ? exit_code_of(pid) : std::nullopt) {
            // Another caller was faster: its daemon is about to answer.
            if (*code != protocol::kExitAlreadyRunning)
                return Error{ErrorCode::io_failed, "hearthd did not start (exit code " +
                                                       std::to_string(*code) +
                                                       "). Its last words:\n" + tail_of(log)};
            running = false;
        }
        ::poll(nullptr, 0, 5);
    }
    return Error{ErrorCode::timed_out, "hearthd was started but does not answer at " +
                                           client.socket_path() + ". Its last words:\n" +
                                           tail_of(log)};
}

Result<Client> connect_or_start(Client client, const StartOptions& options) {
    if (!client.answers()) HEARTH_TRY_VOID(start_daemon(client, options));
    return client;
}

}  // namespace hearth::client
