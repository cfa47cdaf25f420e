// The tools: each reads its files, enters the sandbox, does one thing, prints, ends. Exit code 0,
// or 1 with a sentence on the error stream; 2 (from main) for arguments that do not fit.
#pragma once

// The whole library and not App.hpp: its classes live in headers, and sanitizers want all of them.
#include <CLI/CLI.hpp>

namespace hearth::worker {

void add_tools(CLI::App& tools, int& exit_code);

// One per file tool_*.cpp.
void add_inspect(CLI::App& tools, int& exit_code);
void add_tokenize(CLI::App& tools, int& exit_code);
void add_render(CLI::App& tools, int& exit_code);
void add_requantize(CLI::App& tools, int& exit_code);
void add_bench(CLI::App& tools, int& exit_code);
void add_perplexity(CLI::App& tools, int& exit_code);

}  // namespace hearth::worker
