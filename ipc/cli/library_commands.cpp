// list, show, import, rm: what is installed.
#include <filesystem>
#include <iostream>
#include <memory>

#include "ipc/cli/commands.h"
#include "ipc/cli/output.h"

namespace hearth::cli {
namespace {

using protocol::ModelEntry;

std::string state_of(const ModelEntry& model) {
    if (!model.unsupported.empty()) return "cannot run";
    if (model.state != "ok") return "file " + model.state;
    if (!model.quarantined.empty()) return "quarantined";
    return model.loaded ? "loaded" : "";
}

void list(Context& context) {
    if (!ensure_daemon(context)) return;
    const auto models = context.client.models();
    if (!models) return fail(context, models.error());
    if (context.json) return print_json(protocol::to_json(*models));
    if (models->empty()) {
        std::cout << "No models yet. Add one with: hearth import FILE.gguf\n";
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (const ModelEntry& model : *models)
        rows.push_back({model.id + (model.is_default ? " *" : ""), human_size(model.size),
                        human_count(model.parameters), model.quantization,
                        std::to_string(model.context), state_of(model)});
    print_table(
        {{"MODEL"}, {"SIZE", true}, {"PARAMETERS", true}, {"TYPE"}, {"CONTEXT", true}, {"STATE"}},
        rows);
}

void show(Context& context, const std::string& id) {
    if (!ensure_daemon(context)) return;
    const auto found = context.client.model(id);
    if (!found) return fail(context, found.error());
    const ModelEntry& model = *found;
    if (context.json) return print_json(protocol::to_json(model));
    const std::vector<std::vector<std::string>> rows = {
        {"id", model.id},
        {"name", printable(model.name)},
        {"file", printable(model.path) + (model.in_place ? " (in place)" : "")},
        {"size", human_size(model.size)},
        {"sha256", model.sha256},
        {"architecture", model.architecture},
        {"type", model.quantization},
        {"parameters", human_count(model.parameters)},
        {"context", std::to_string(model.context) + " tokens"},
        {"chat",
         model.has_chat_template ? "has a chat template" : "no chat template: completions only"},
        {"state", state_of(model).empty() ? "ready to load" : state_of(model)},
    };
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[0].size());
    for (const auto& row : rows)
        std::cout << row[0] << std::string(width + 2 - row[0].size(), ' ') << row[1] << '\n';
    if (!model.unsupported.empty())
        std::cout << "\nThis build cannot run it: " << printable(model.unsupported) << '\n';
    if (!model.quarantined.empty())
        std::cout << "\nQuarantined: " << printable(model.quarantined)
                  << "\nLoad it all the same with: hearth load " << model.id << " --force\n";
}

struct ImportArguments {
    std::string path;
    std::string name;
    std::string link = "auto";
};

void import_model(Context& context, const ImportArguments& arguments) {
    if (!ensure_daemon(context)) return;
    std::error_code failure;
    const auto path = std::filesystem::absolute(arguments.path, failure);
    const auto link = protocol::link_from_string(arguments.link);
    if (!link)
        return fail(context,
                    {ErrorCode::bad_input, "--link takes auto, copy, hardlink or in_place"});
    const auto reply =
        context.client.import_model({path.lexically_normal().string(), arguments.name, *link});
    if (!reply) return fail(context, reply.error());
    if (context.json) return print_json(protocol::to_json(*reply));
    const ModelEntry& model = reply->model;
    std::cout << (reply->existed ? "Already here: " : "Imported ") << model.id << " ("
              << human_size(model.size) << ", " << model.quantization << ")\n";
    if (!model.unsupported.empty())
        std::cout << "This build cannot run it: " << printable(model.unsupported) << '\n';
}

void remove_model(Context& context, const std::string& id) {
    if (!ensure_daemon(context)) return;
    const auto model = context.client.model(id);
    if (!model) return fail(context, model.error());
    const auto removed = context.client.remove_model(id);
    if (!removed) return fail(context, removed.error());
    if (context.json) return print_json(boost::json::object{{"deleted", id}});
    std::cout << "Removed " << id << (model->in_place ? "; its file stays where it is\n" : "\n");
}

}  // namespace

void add_library_commands(CLI::App& app, Context& context) {
    auto* list_command = app.add_subcommand("list", "Installed models (* is the default)");
    list_command->add_flag("--json", context.json, "Print JSON");
    list_command->callback([&context] { list(context); });

    const auto id =
        std::make_shared<std::string>();  // shared by the option and the callbacks of CLI11
    auto* show_command = app.add_subcommand("show", "One model in detail");
    show_command->add_option("MODEL", *id, "Its id, as in `hearth list`")->required();
    show_command->add_flag("--json", context.json, "Print JSON");
    show_command->callback([&context, id] { show(context, *id); });

    const auto arguments = std::make_shared<ImportArguments>();  // shared likewise
    auto* import_command = app.add_subcommand("import", "Add a model from a GGUF file");
    import_command->add_option("FILE", arguments->path, "A .gguf file")->required();
    import_command->add_option("--name", arguments->name, "What to call it");
    import_command->add_option(
        "--link", arguments->link,
        "auto (hard link where possible, else copy), copy, hardlink, or in_place");
    import_command->add_flag("--json", context.json, "Print JSON");
    import_command->callback([&context, arguments] { import_model(context, *arguments); });

    auto* remove_command = app.add_subcommand("rm", "Remove a model");
    remove_command->add_option("MODEL", *id, "Its id")->required();
    remove_command->add_flag("--json", context.json, "Print JSON");
    remove_command->callback([&context, id] { remove_model(context, *id); });
}

}  // namespace hearth::cli
