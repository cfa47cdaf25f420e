// What bash, zsh and fish need to complete `hearth`: commands, options, the ids of installed
// models, files, and values that are one of a list. Each script is a table of words; ids are asked
// of `hearth model-ids`, which starts no daemon.
#include <functional>

#include "ipc/cli/describe.h"

namespace hearth::cli {
namespace {

enum class Kind : std::uint8_t { nothing, model, file, choice };

Kind kind_of(const OptionFacts& option) {
    if (!option.choices.empty()) return Kind::choice;
    if (option.value.find("MODEL") != std::string::npos) return Kind::model;
    if (option.value.find("FILE") != std::string::npos || option.value == "PATH") return Kind::file;
    return Kind::nothing;
}

// What the first word that is no option stands for. Where another program reads the arguments, its
// usage line says so: "MODEL|FILE.gguf [-p 512]".
OptionFacts first_positional(const CommandFacts& facts) {
    if (!facts.positionals.empty()) return facts.positionals.front();
    return {.names = {},
            .value = facts.usage.substr(0, facts.usage.find_first_of("| ")),
            .choices = {},
            .description = {}};
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

// Inside single quotes of a shell.
std::string in_quotes(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// The words that lead to a command below the one at `path`.
std::string path_below(const std::string& path, const CommandFacts& command) {
    return path.empty() ? command.name : path + " " + command.name;
}

// Every command with the words that lead to it, the root first.
void each_command(const CommandFacts& facts, const std::string& path,
                  const std::function<void(const std::string&, const CommandFacts&)>& visit) {
    visit(path, facts);
    for (const CommandFacts& command : facts.commands)
        each_command(command, path_below(path, command), visit);
}

std::vector<std::string> words_of(const CommandFacts& facts) {
    std::vector<std::string> words;
    for (const CommandFacts& command : facts.commands) words.push_back(command.name);
    for (const OptionFacts& option : facts.options)
        words.insert(words.end(), option.names.begin(), option.names.end());
    return words;
}

// bash: the line that fills COMPREPLY for a value of this kind.
std::string bash_values(const OptionFacts& option) {
    switch (kind_of(option)) {
        case Kind::model:
            return "_hearth_models";
        case Kind::file:
            return "_hearth_files";
        case Kind::choice:
            return "_hearth_words " + in_quotes(joined(option.choices));
        case Kind::nothing:
            return "COMPREPLY=()";
    }
    return {};
}

constexpr const char* kBashHead = R"(# bash completion for hearth, made by: hearth completion bash
_hearth_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_hearth_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); }
_hearth_models() { local ids; ids=$(hearth model-ids 2>/dev/null); _hearth_words "$ids"; }
_hearth() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path="" word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " $path|$word" in
)";
constexpr const char* kBashMiddle = R"(        esac
    done
    case "$path|$prev" in
)";
constexpr const char* kBashWords = R"(    esac
    case "$path" in
)";
constexpr const char* kBashTail = R"(    esac
}
complete -F _hearth hearth
)";

}  // namespace

std::string bash_completion(const CommandFacts& root) {
    std::string script = kBashHead;
    each_command(root, "", [&](const std::string& path, const CommandFacts& facts) {
        for (const CommandFacts& command : facts.commands)
            script += "            " + in_quotes(" " + path + "|" + command.name) +
                      ") path=" + in_quotes(path_below(path, command)) + " ;;\n";
    });
    script += kBashMiddle;
    each_command(root, "", [&](const std::string& path, const CommandFacts& facts) {
        for (const OptionFacts& option : facts.options) {
            if (option.value.empty()) continue;
            std::vector<std::string> patterns;
            for (const std::string& name : option.names)
                patterns.push_back(in_quotes(path + "|" + name));
            script +=
                "        " + joined(patterns, "|") + ") " + bash_values(option) + "; return ;;\n";
        }
    });
    script += kBashWords;
    each_command(root, "", [&](const std::string& path, const CommandFacts& facts) {
        script += "        " + in_quotes(path) + ") ";
        if (const OptionFacts first = first_positional(facts); kind_of(first) != Kind::nothing)
            script += "[[ $cur == -* ]] || { " + bash_values(first) + "; return; }; ";
        script += "_hearth_words " + in_quotes(joined(words_of(facts))) + " ;;\n";
    });
    return script + kBashTail;
}  // namespace hearth::cli

namespace {

std::string zsh_action(const OptionFacts& option) {
    const std::string name = option.value.empty() ? "value" : option.value;
    switch (kind_of(option)) {
        case Kind::model:
            return ":" + name + ":_hearth_models";
        case Kind::file:
            return ":" + name + ":_files";
        case Kind::choice:
            return ":" + name + ":(" + joined(option.choices) + ")";
        case Kind::nothing:
            return ":" + name + ": ";
    }
    return {};
}

std::string zsh_function(const std::string& path) {
    std::string name = "_hearth";
    if (!path.empty()) name += "_" + path;
    for (char& c : name)
        if (c == ' ' || c == '-') c = '_';
    return name;
}

void zsh_options(std::string& script, const CommandFacts& facts) {
    for (const OptionFacts& option : facts.options)
        for (const std::string& name : option.names)
            script += " \\\n        " + in_quotes(name + "[" + option.description + "]" +
                                                  (option.value.empty() ? "" : zsh_action(option)));
}

// fish: what `complete` is told of a value of this kind.
std::string fish_values(const OptionFacts& option) {
    switch (kind_of(option)) {
        case Kind::model:
            return " -x -a '(hearth model-ids 2>/dev/null)'";
        case Kind::file:
            return " -r -F";
        case Kind::choice:
            return " -x -a " + in_quotes(joined(option.choices));
        case Kind::nothing:
            return " -x";
    }
    return {};
}

}  // namespace

std::string zsh_completion(const CommandFacts& root) {
    std::string script =
        "#compdef hearth\n# zsh completion for hearth, made by: hearth completion zsh\n"
        "_hearth_models() { compadd -- ${(f)\"$(hearth model-ids 2>/dev/null)\"} }\n";
    each_command(root, "", [&](const std::string& path, const CommandFacts& facts) {
        script += zsh_function(path) + "() {\n    _arguments -s";
        zsh_options(script, facts);
        if (facts.commands.empty()) {
            script += " \\\n        " + in_quotes("*" + zsh_action(first_positional(facts)));
            script += "\n}\n";
            return;
        }
        script +=
            " \\\n        '1: :->command' '*:: :->rest'\n    case $state in\n"
            "        command) local -a commands=(";
        for (const CommandFacts& command : facts.commands)
            script += "\n            " + in_quotes(command.name + ":" + command.summary);
        script += ")\n            _describe command commands ;;\n        rest) case $words[1] in\n";
        for (const CommandFacts& command : facts.commands)
            script += "            " + command.name + ") " +
                      zsh_function(path_below(path, command)) + " ;;\n";
        script += "        esac ;;\n    esac\n}\n";
    });
    return script + "compdef _hearth hearth\n";
}

std::string fish_completion(const CommandFacts& root) {
    std::string script =
        "# fish completion for hearth, made by: hearth completion fish\n"
        "complete -c hearth -f\n";
    each_command(root, "", [&](const std::string& path, const CommandFacts& facts) {
        std::vector<std::string> names;
        for (const CommandFacts& command : facts.commands) names.push_back(command.name);
        std::string here = "__fish_use_subcommand";
        if (!path.empty()) here = "__fish_seen_subcommand_from " + path.substr(path.rfind(' ') + 1);
        const std::string deeper = names.empty() || path.empty()
                                       ? ""
                                       : "; and not __fish_seen_subcommand_from " + joined(names);
        for (const CommandFacts& command : facts.commands)
            script += "complete -c hearth -n " + in_quotes(here + deeper) + " -a " + command.name +
                      " -d " + in_quotes(command.summary) + "\n";
        for (const OptionFacts& option : facts.options) {
            script += "complete -c hearth -n " + in_quotes(here);
            for (const std::string& name : option.names)
                script +=
                    name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.value.empty()) script += fish_values(option);
            script += " -d " + in_quotes(option.description) + "\n";
        }
        if (const OptionFacts first = first_positional(facts); kind_of(first) != Kind::nothing)
            script += "complete -c hearth -n " + in_quotes(here) + fish_values(first) + "\n";
    });
    return script;
}

}  // namespace hearth::cli
