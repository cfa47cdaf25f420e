// The commands of `hearth`, grouped as in its help. Each group adds its subcommands; a command
// writes its result to the standard output, everything else to the error stream, and leaves its
// exit code in the context.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/base/result.h"
#include "ipc/client/client.h"

namespace hearth::cli {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

struct Context {
    client::Client client;
    bool json = false;  // data for programs instead of text for people
    int exit_code = kExitOk;
};

void add_generate_commands(CLI::App& app, Context& context);  // run, chat
void add_library_commands(CLI::App& app, Context& context);   // list, show, import, rm
void add_daemon_commands(CLI::App& app, Context& context);  // ps, load, unload, status, start, stop
void add_token_commands(CLI::App& app, Context& context);   // token
void add_watch_commands(CLI::App& app, Context& context);   // logs
void add_tool_commands(CLI::App& app,
                       Context& context);  // bench, perplexity, tokenize, render, requantize

// A client of the daemon, which is started when none answers. Prints the error and sets the exit
// code when that fails.
bool ensure_daemon(Context& context);

// `status --watch`: until Ctrl-C or the daemon's end.
void watch_status(Context& context);

// Prints the error and sets the exit code.
void fail(Context& context, const Error& error);

}  // namespace hearth::cli
