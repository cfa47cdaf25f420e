// `hearth`, the command line: a client like any other, without an engine.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>

#include "ipc/cli/commands.h"
#include "ipc/cli/describe.h"
#include "ipc/cli/output.h"

namespace {

int run(int argc, char** argv) {
    CLI::App app{"Language models on your own machine."};
    app.name("hearth");
    app.set_version_flag("--version", "hearth " HEARTH_VERSION);
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::help);

    hearth::cli::Context context;
    hearth::cli::add_generate_commands(app, context);
    hearth::cli::add_library_commands(app, context);
    hearth::cli::add_daemon_commands(app, context);
    hearth::cli::add_token_commands(app, context);
    hearth::cli::add_watch_commands(app, context);
    hearth::cli::add_tool_commands(app, context);
    hearth::cli::add_describe_commands(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? hearth::cli::kExitOk : hearth::cli::kExitUsage;
    }
    return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        hearth::cli::print_error({hearth::ErrorCode::internal, error.what()});
        return hearth::cli::kExitFailed;
    }
}
