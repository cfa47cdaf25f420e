// bench, perplexity, tokenize, render, requantize: work on files, done by `hearth-worker tool …`,
// which parses them in a sandbox. Only the name of an installed model needs the daemon.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "ipc/cli/commands.h"
#include "ipc/cli/output.h"
#include "ipc/client/daemon_process.h"

namespace hearth::cli {
namespace {

struct Tool {
    const char* name;
    const char* summary;
    const char* usage;       // of the arguments, for the help
    bool starts_with_model;  // the first argument is the id of an installed model, or a file
};

constexpr Tool kTools[] = {
    {"bench", "Measure prompt and generation speed",
     "MODEL|FILE.gguf [-p 512] [-n 128] [-d 0] [-t THREADS] [-r 5] [-o md|json]", true},
    {"perplexity", "How well a model predicts a text",
     "MODEL|FILE.gguf --file TEXT [--ids IDS.json] [--top N] [--json]", true},
    {"tokenize", "Text to token ids", "MODEL|FILE.gguf [--file TEXT] [--special] [--json]", true},
    {"render", "A chat template and its input to the prompt",
     "TEMPLATE.jinja INPUT.json [--now 2026-01-15T12:00:00]", false},
    {"requantize", "Write a copy with weights of another type", "IN.gguf OUT.gguf --type Q8_0",
     true},
};

// The file of an installed model, or the argument itself when it is a file.
std::optional<std::string> model_path(Context& context, const std::string& argument) {
    std::error_code ignored;
    const bool looks_like_path =
        argument.find('/') != std::string::npos || argument.ends_with(".gguf");
    if (looks_like_path || std::filesystem::exists(argument, ignored)) return argument;
    if (!ensure_daemon(context)) return std::nullopt;
    const auto model = context.client.model(argument);
    if (model) return model->path;
    fail(context, model.error());
    return std::nullopt;
}

// Becomes hearth-worker; comes back only when that fails.
void become_tool(Context& context, const Tool& tool, std::vector<std::string> arguments) {
    if (tool.starts_with_model && !arguments.empty() && !arguments[0].starts_with('-')) {
        auto path = model_path(context, arguments[0]);
        if (!path) return;
        arguments[0] = *std::move(path);
    }
    const auto program = client::program_beside_us("hearth-worker");
    if (!program) return fail(context, program.error());
    std::vector<std::string> words = {*program, "tool", tool.name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program->c_str(), pointers.data());
    fail(context, {ErrorCode::io_failed,
                   "cannot start " + *program + ": " + std::generic_category().message(errno)});
}

}  // namespace

void add_tool_commands(CLI::App& app, Context& context) {
    for (const Tool& tool : kTools) {
        auto* command = app.add_subcommand(tool.name, tool.summary);
        command
            ->prefix_command();  // everything after the name belongs to the tool, --help included
        command->set_help_flag();
        command->footer(tool.usage);
        command->callback(
            [&context, &tool, command] { become_tool(context, tool, command->remaining()); });
    }
}

}  // namespace hearth::cli
