// Reads lines from a terminal with editing and a history that outlives the program, or plain lines
// from a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace hearth::cli {

class LineEditor {
public:
    // Where both input and output are terminals lines can be edited; `history_path` is read, and
    // written after every line (0600). Elsewhere lines are read as they come.
    LineEditor(std::string prompt, std::string history_path);
    ~LineEditor();
    LineEditor(const LineEditor&) = delete;
    LineEditor& operator=(const LineEditor&) = delete;

    // The next line without its end; a backslash at the end continues it. Nothing at the end of
    // input. Ctrl-C empties the line.
    std::optional<std::string> read_line();

private:
    class Terminal;

    std::optional<std::string> read_plain();

    std::string prompt_;
    std::unique_ptr<Terminal> terminal_;  // null when lines cannot be edited
};

}  // namespace hearth::cli
