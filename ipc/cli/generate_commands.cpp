// run and chat: ask a model.
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "ipc/cli/commands.h"
#include "ipc/cli/conversation.h"
#include "ipc/cli/line_editor.h"
#include "ipc/cli/output.h"

namespace hearth::cli {
namespace {

struct Arguments {
    AnswerSettings settings;
    std::vector<std::string> words;
};

void add_settings(CLI::App& command, Arguments& arguments) {
    AnswerSettings& settings = arguments.settings;
    command.add_option("-m,--model", settings.model, "Model id, as in `hearth list`");
    command.add_option("-s,--system", settings.system, "System message");
    command
        .add_option("--temperature", settings.temperature, "0 (always the likeliest token) to 2")
        ->capture_default_str();
    command.add_option("--top-p", settings.top_p, "Keep the likeliest tokens up to this sum")
        ->capture_default_str();
    command.add_option("-n,--max-tokens", settings.max_tokens, "Longest answer");
    command.add_option_function<std::uint64_t>(
        "--seed", [&settings](std::uint64_t seed) { settings.seed = seed; },
        "Same seed, same answer");
}

// The words of the command line, then what is piped in.
std::string prompt_of(const std::vector<std::string>& words) {
    std::string prompt;
    for (const std::string& word : words) prompt += (prompt.empty() ? "" : " ") + word;
    if (isatty(STDIN_FILENO) == 1 || (!words.empty() && words.back() != "-")) return prompt;
    if (!words.empty()) prompt.erase(prompt.size() - 1);
    const std::string piped{std::istreambuf_iterator<char>(std::cin),
                            std::istreambuf_iterator<char>()};
    return prompt + piped;
}

boost::json::object to_json(const Answer& answer) {
    boost::json::object out{{"text", answer.text},
                            {"model", answer.model},
                            {"finish_reason", answer.finish_reason},
                            {"prompt_tokens", answer.timings.prompt_tokens},
                            {"generated_tokens", answer.timings.generated_tokens},
                            {"tokens_per_second", answer.timings.tokens_per_second()}};
    if (answer.seed) out["seed"] = *answer.seed;
    return out;
}

void run(Context& context, const Arguments& arguments) {
    const std::string prompt = prompt_of(arguments.words);
    if (prompt.find_first_not_of(" \t\r\n") == std::string::npos)
        return fail(
            context,
            {ErrorCode::bad_input,
             "nothing to ask; try: hearth run \"Why is the sky blue?\" (or - to read a pipe)"});
    if (!ensure_daemon(context)) return;
    const auto answer =
        ask(context.client, arguments.settings, {message("user", prompt)}, context.json);
    if (!answer) {
        if (!context.json) std::cout << std::flush;
        return fail(context, answer.error());
    }
    if (context.json) {
        print_json(to_json(*answer));
    } else {
        std::cout << '\n' << std::flush;
        std::cerr << "\n[" << answer->model << ": " << speed_line(*answer) << "]\n";
    }
    if (answer->interrupted) context.exit_code = kExitInterrupted;
}

constexpr std::string_view kChatHelp =
    "/new            forget the conversation\n"
    "/system TEXT    set the system message and start anew\n"
    "/retry          answer the last message again\n"
    "/help           this list\n"
    "/exit           leave (Ctrl-D, too)\n"
    "Ctrl-C stops an answer. A backslash at the end of a line continues it.\n";

class Chat {
public:
    Chat(Context& context, AnswerSettings settings)
        : context_(context),
          settings_(std::move(settings)),
          editor_("> ", protocol::user_paths().state + "/history") {}

    void run() {
        const bool interactive = is_terminal(STDIN_FILENO);
        if (interactive) std::cout << "Chat. /help lists commands; Ctrl-D leaves.\n";
        while (const auto line = editor_.read_line()) {
            if (line->find_first_not_of(" \t\n") == std::string::npos) continue;
            if (line->front() != '/') {
                answer_to(*line);
            } else if (!command(*line)) {
                break;
            }
        }
    }

private:
    // False to leave.
    bool command(const std::string& line) {
        const std::size_t space = line.find(' ');
        const std::string name = line.substr(0, space);
        if (name == "/exit" || name == "/quit" || name == "/bye") return false;
        if (name == "/new") {
            messages_.clear();
            std::cout << "(a new conversation)\n";
        } else if (name == "/system") {
            settings_.system = space == std::string::npos ? "" : line.substr(space + 1);
            messages_.clear();
            std::cout << "(a new conversation with that system message)\n";
        } else if (name == "/retry") {
            retry();
        } else if (name == "/help") {
            std::cout << kChatHelp;
        } else {
            std::cout << "No such command: " << printable(name) << '\n' << kChatHelp;
        }
        return true;
    }

    void retry() {
        if (messages_.size() < 2) {
            std::cout << "(nothing to answer yet)\n";
            return;
        }
        messages_.pop_back();
        const std::string question(messages_.back().as_object().at("content").as_string());
        messages_.pop_back();
        answer_to(question);
    }

    void answer_to(const std::string& question) {
        messages_.push_back(message("user", question));
        const auto answer = ask(context_.client, settings_, messages_);
        std::cout << '\n' << std::flush;
        if (!answer) {
            messages_.pop_back();
            print_error(answer.error());
            return;
        }
        messages_.push_back(message("assistant", answer->text));
        if (is_terminal(STDERR_FILENO))
            std::cerr << "\033[2m[" << (answer->interrupted ? "stopped" : speed_line(*answer))
                      << "]\033[0m\n";
    }

    Context& context_;
    AnswerSettings settings_;
    LineEditor editor_;
    boost::json::array messages_;
};

}  // namespace

void add_generate_commands(CLI::App& app, Context& context) {
    const auto arguments =
        std::make_shared<Arguments>();  // shared by the options and callbacks of CLI11
    auto* run_command = app.add_subcommand("run", "Ask once and print the answer");
    run_command->add_option("PROMPT", arguments->words, "The question; - reads more from a pipe");
    add_settings(*run_command, *arguments);
    run_command->add_flag("--json", context.json, "Print JSON, when the answer is whole");
    run_command->callback([&context, arguments] { run(context, *arguments); });

    auto* chat_command = app.add_subcommand("chat", "A conversation");
    add_settings(*chat_command, *arguments);
    chat_command->callback([&context, arguments] {
        if (ensure_daemon(context)) Chat(context, arguments->settings).run();
    });
}

}  // namespace hearth::cli
