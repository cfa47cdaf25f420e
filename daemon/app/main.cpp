// hearthd: arguments → Config → App → exit code.
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <span>

#include "daemon/app/app.h"
#include "daemon/app/build_id.h"
#include "daemon/app/logging.h"
#include "daemon/supervise/inspect.h"
#include "engine/base/log.h"
#include "ipc/protocol/version.h"

namespace {

int fail(const hearth::Error& error, int code) {
    std::fprintf(stderr, "hearthd: %s\n", error.message.c_str());
    return code;
}

// Prompts and the token are in memory: no core file, no debugger of the same user.
void keep_memory_private() {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int help() {
    std::printf(
        "hearthd, the Hearth daemon. It serves the models of one user over a Unix socket\n"
        "and, with a token, on 127.0.0.1.\n\n"
        "Options (also in config.toml as socket = \"…\", and as HEARTH_SOCKET=…):\n%s"
        "  --version         version and build\n",
        hearth::app::describe_settings().c_str());
    return 0;
}

int version(const hearth::app::Config& config) {
    const std::string worker = hearth::supervise::worker_program(config.worker);
    std::printf("hearthd %s (%s)\n", hearth::app::version().c_str(),
                hearth::app::build_id(worker).c_str());
    return 0;
}

// Whoever starts us may have closed these. Then the next socket or file would get such a number,
// and what a library writes to "the error stream" would go into it.
void open_standard_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(number, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // takes the lowest free one
}

// Bodies of requests can be 32 MiB. Left to itself, the allocator learns from the first one to keep
// that much for the next.
void give_large_blocks_back() {
    constexpr int kLarge = 256 * 1024;
    ::mallopt(M_MMAP_THRESHOLD, kLarge);
}

int serve(const hearth::app::Config& config, const hearth::protocol::Paths& paths) {
    using hearth::LogLevel;
    keep_memory_private();
    hearth::app::start_logging(paths.state + "/logs", config.log_level);
    auto app = hearth::app::App::make(config, paths);
    if (!app) {
        const bool running = app.error().code == hearth::ErrorCode::busy;
        hearth::log(running ? LogLevel::info : LogLevel::error,
                    "hearthd did not start: " + app.error().message);
        hearth::app::stop_logging();
        return fail(app.error(), running ? hearth::protocol::kExitAlreadyRunning
                                         : hearth::protocol::kExitFailed);
    }
    (*app)->run();
    (*app).reset();  // its threads may have something to say until then
    hearth::app::stop_logging();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    give_large_blocks_back();
    ::umask(0077);  // whatever we make is ours alone
    const hearth::protocol::Paths paths = hearth::protocol::user_paths();
    const std::span<const char* const> arguments(argv + 1, argv + (argc > 0 ? argc : 1));
    const auto startup = hearth::app::read_config(paths, arguments);
    if (!startup) return fail(startup.error(), hearth::protocol::kExitUsage);
    switch (startup->command) {
        case hearth::app::Command::help:
            return help();
        case hearth::app::Command::version:
            return version(startup->config);
        case hearth::app::Command::serve:
            break;
    }
    return serve(startup->config, paths);
}
