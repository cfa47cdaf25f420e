#include "ipc/cli/describe.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>
#include <utility>

namespace hearth::cli {
namespace {

bool is_shown(const CLI::Option* option) { return !option->get_group().empty(); }
bool is_shown(const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
}

// CLI11 writes the choices of a value into its type's name: "TEXT:{a,b}".
std::vector<std::string> choices_in(const std::string& type) {
    const std::size_t open = type.find('{'), close = type.rfind('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos) return choices;
    std::string word;
    for (const char c : type.substr(open + 1, close - open - 1)) {
        if (c == ',') choices.push_back(std::exchange(word, {}));
        if (c != ',') word += c;
    }
    choices.push_back(word);
    return choices;
}

// What stands for the value in usage lines: a positional's own name, else the long name in
// capitals.
std::string value_of(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name(true, false);
    if (option.get_items_expected_max() == 0) return {};
    std::string name =
        option.get_lnames().empty() ? option.get_snames().front() : option.get_lnames().front();
    for (char& c : name) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        if (c == '-') c = '_';
    }
    return name;
}

OptionFacts facts_of(const CLI::Option& option) {
    OptionFacts facts;
    if (!option.get_positional()) {
        for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
    }
    facts.value = value_of(option);
    facts.choices = choices_in(option.get_type_name());
    facts.description = option.get_description();
    facts.required = option.get_required();
    return facts;
}

}  // namespace

CommandFacts describe(const CLI::App& app) {
    CommandFacts facts;
    facts.name = app.get_name();
    facts.summary = app.get_description();
    if (app.get_help_ptr() == nullptr) facts.usage = app.get_footer();
    while (!facts.usage.empty() && facts.usage.back() == '\n') facts.usage.pop_back();
    for (const CLI::Option* option : app.get_options()) {
        if (!is_shown(option)) continue;
        auto& list = option->get_positional() ? facts.positionals : facts.options;
        list.push_back(facts_of(*option));
    }
    const auto shown = [](const CLI::App* command) { return is_shown(command); };
    for (const CLI::App* command : app.get_subcommands(shown))
        facts.commands.push_back(describe(*command));
    return facts;
}

void add_describe_commands(CLI::App& app, Context& context) {
    auto* completion =
        app.add_subcommand("completion", "Print what a shell needs to complete commands");
    // shared_ptr: the callbacks are copied, the value is one.
    const auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([&app, shell] {
        const CommandFacts facts = describe(app);
        std::cout << (*shell == "bash"  ? bash_completion(facts)
                      : *shell == "zsh" ? zsh_completion(facts)
                                        : fish_completion(facts));
    });
    auto* manual = app.add_subcommand("manual", "Print the manual page hearth(1)");
    manual->group("");  // the package has it installed
    manual->callback([&app] { std::cout << manual_page(describe(app), HEARTH_VERSION); });
    auto* ids = app.add_subcommand("model-ids", "Ids of installed models, where a daemon runs");
    ids->group("");
    ids->callback([&context] {
        if (const auto models = context.client.models())
            for (const protocol::ModelEntry& model : *models) std::cout << model.id << '\n';
    });
}

}  // namespace hearth::cli
