// hearth-worker: everything that reads model files. `serve` is started by hearthd; `tool …` by
// hearthd and hearth.
#include <CLI/CLI.hpp>

#include "daemon/worker/serve.h"
#include "daemon/worker/tools.h"

#if defined(__SANITIZE_ADDRESS__)
#define HEARTH_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEARTH_ADDRESS_SANITIZER
#endif
#endif
#ifdef HEARTH_ADDRESS_SANITIZER
// The leak check at exit starts a process, which the sandbox forbids.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

int main(int argc, char** argv) {
    CLI::App app("The part of Hearth that reads model files. Started by hearthd and hearth.");
    app.require_subcommand(1);
    int exit_code = 0;
    auto* serve = app.add_subcommand("serve", "Answer requests of hearthd on descriptor 3");
    serve->callback([&] { exit_code = hearth::worker::serve(); });
    auto* tool = app.add_subcommand("tool", "Work on a file, then end");
    tool->require_subcommand(1);
    hearth::worker::add_tools(*tool, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return exit_code;
}
