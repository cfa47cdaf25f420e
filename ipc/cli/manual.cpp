// The manual page hearth(1), made from the commands themselves.
#include "ipc/cli/describe.h"

namespace hearth::cli {
namespace {

// Backslashes and hyphens as roff wants them, and no line that begins with a dot or an apostrophe.
std::string roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
            out += std::string("\\&") + c;
        } else {
            out += c;
        }
    }
    return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string synopsis_of(const CommandFacts& command, const std::string& path) {
    std::string line = ".B " + roff(path);
    if (!command.usage.empty()) return line + "\n" + roff(command.usage) + "\n";
    line += "\n";
    if (!command.options.empty()) line += "[" + italic("OPTIONS") + "]\n";
    for (const OptionFacts& option : command.positionals)
        line += option.required ? italic(option.value) + "\n" : "[" + italic(option.value) + "]\n";
    return line;
}

std::string option_entry(const OptionFacts& option) {
    std::string head;
    for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
    if (option.names.empty()) head = italic(option.value);
    if (!option.names.empty() && !option.value.empty()) head += " " + italic(option.value);
    std::string text = roff(option.description);
    if (!option.choices.empty()) {
        std::string list;
        for (const std::string& choice : option.choices)
            list += (list.empty() ? "" : ", ") + bold(choice);
        text += (text.empty() ? "One of " : "; one of ") + list;
    }
    return ".TP\n" + head + "\n" + text + ".\n";
}

void add_command(std::string& page, const CommandFacts& command, const std::string& path) {
    page += ".SS " + roff(path) + "\n" + roff(command.summary) + ".\n.PP\n" +
            synopsis_of(command, path);
    for (const OptionFacts& option : command.positionals) page += option_entry(option);
    for (const OptionFacts& option : command.options)
        if (option.names != std::vector<std::string>{"-h", "--help"}) page += option_entry(option);
    for (const CommandFacts& deeper : command.commands)
        add_command(page, deeper, path + " " + deeper.name);
}

constexpr const char* kTail = R"(.SH FILES
.TP
.I $XDG_RUNTIME_DIR/hearth/hearth.sock
The daemon's socket; without XDG_RUNTIME_DIR it lies in ~/.local/state/hearth/run.
.TP
.I ~/.local/share/hearth
Models and the database.
.TP
.I ~/.config/hearth
Settings (config.toml) and the token for programs that come in over TCP.
.TP
.I ~/.local/state/hearth/logs
What the daemon has logged.
.SH ENVIRONMENT
.TP
.B HEARTH_SOCKET
Another socket than the one above.
.PP
Every setting of
.BR hearthd (1)
can be given as HEARTH_NAME.
.SH EXIT STATUS
0 done, 1 failed, 2 wrong arguments, 130 interrupted.
.SH SEE ALSO
.BR hearthd (1)
)";

}  // namespace

std::string manual_page(const CommandFacts& root, const std::string& version) {
    std::string page = ".TH HEARTH 1 \"\" \"hearth " + roff(version) +
                       "\" \"User Commands\"\n.SH NAME\nhearth \\- language models on your own "
                       "machine\n.SH SYNOPSIS\n.B hearth\n" +
                       italic("COMMAND") + "\n[" + italic("ARGUMENTS") +
                       "]\n.SH DESCRIPTION\n"
                       "Asks, chats, and manages models through the daemon\n.BR hearthd (1),\n"
                       "which is started where none runs. Results go to the standard output, "
                       "everything else to the error stream;\n.B \\-\\-json\n"
                       "prints data for programs.\n.SH COMMANDS\n";
    for (const CommandFacts& command : root.commands)
        add_command(page, command, "hearth " + command.name);
    return page + kTail;
}

}  // namespace hearth::cli
