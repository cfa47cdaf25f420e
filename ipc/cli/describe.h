// The command line as data, read off the definition that also parses it: what the shells'
// completions and the manual page are made from.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "ipc/cli/commands.h"

namespace hearth::cli {

struct OptionFacts {
    std::vector<std::string> names;    // "-m", "--model"; empty: a positional
    std::string value;                 // "MODEL"; empty: a flag
    std::vector<std::string> choices;  // what the value may be, where that is a list
    std::string description;
    bool required = false;
};

struct CommandFacts {
    std::string name;
    std::string summary;
    std::string usage;  // of commands whose arguments another program reads
    std::vector<OptionFacts> options;
    std::vector<OptionFacts> positionals;
    std::vector<CommandFacts> commands;
};

// Without what its help hides.
CommandFacts describe(const CLI::App& app);

std::string bash_completion(const CommandFacts& root);
std::string zsh_completion(const CommandFacts& root);
std::string fish_completion(const CommandFacts& root);

// hearth(1), in the macros of man(7).
std::string manual_page(const CommandFacts& root, const std::string& version);

// completion, and hidden: manual (for the package), model-ids (for the completions).
void add_describe_commands(CLI::App& app, Context& context);

}  // namespace hearth::cli
