#include "ipc/cli/line_editor.h"

#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <utility>

#include "ipc/cli/interrupt.h"
#include "ipc/cli/output.h"

namespace hearth::cli {
namespace {

constexpr int kHistoryLines = 1000;

}  // namespace

class LineEditor::Terminal {
public:
    Terminal(const std::string& prompt, std::string history_path) : path_(std::move(history_path)) {
        std::setlocale(LC_CTYPE, "");
        current_prompt = prompt;
        editor_ = el_init("hearth", stdin, stdout, stderr);
        history_ = history_init();
        history(history_, &event_, H_SETSIZE, kHistoryLines);
        history(history_, &event_, H_SETUNIQUE, 1);
        std::error_code ignored;
        std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
        history(history_, &event_, H_LOAD, path_.c_str());
        el_set(editor_, EL_PROMPT, &prompt_text);
        el_set(editor_, EL_EDITOR, "emacs");
        el_set(editor_, EL_SIGNAL, 0);
        el_set(editor_, EL_HIST, history, history_);
        el_set(editor_, EL_BIND, "\\e[1~", "ed-move-to-beg", nullptr);
        el_set(editor_, EL_BIND, "\\e[4~", "ed-move-to-end", nullptr);
        el_set(editor_, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
        el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
        el_source(editor_, nullptr);
    }
    ~Terminal() {
        history_end(history_);
        el_end(editor_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    std::optional<std::string> read(const std::string& prompt) {
        current_prompt = prompt;
        Interrupt interrupt;
        for (;;) {
            int count = 0;
            const char* text = el_gets(editor_, &count);
            if (text != nullptr && count > 0 && !interrupt.raised()) return std::string(text);
            if (!interrupt.raised()) return std::nullopt;
            interrupt.clear();
            el_reset(editor_);
            std::cout << '\n';
        }
    }

    void remember(const std::string& line) {
        history(history_, &event_, H_ENTER, line.c_str());
        const mode_t earlier = umask(0077);
        history(history_, &event_, H_SAVE, path_.c_str());
        umask(earlier);
    }

private:
    static char* prompt_text(EditLine* /*editor*/) { return current_prompt.data(); }

    // libedit's prompt callback has no argument of ours.
    static inline std::string current_prompt;

    std::string path_;
    EditLine* editor_ = nullptr;
    History* history_ = nullptr;
    HistEvent event_ = {};
};

LineEditor::LineEditor(std::string prompt, std::string history_path) : prompt_(std::move(prompt)) {
    if (is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO))
        terminal_ = std::make_unique<Terminal>(prompt_, std::move(history_path));
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read_line() {
    std::string whole;
    for (bool first = true;; first = false) {
        auto line = terminal_ ? terminal_->read(first ? prompt_ : "… ") : read_plain();
        if (!line) return first ? std::nullopt : std::optional(whole);
        while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
        const bool continues = !line->empty() && line->back() == '\\';
        if (continues) line->back() = '\n';
        whole += *line;
        if (continues) continue;
        if (terminal_ && whole.find_first_not_of(" \t\n") != std::string::npos)
            terminal_->remember(whole);
        return whole;
    }
}

std::optional<std::string> LineEditor::read_plain() {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
}

}  // namespace hearth::cli
