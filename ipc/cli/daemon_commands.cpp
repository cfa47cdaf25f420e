// ps, load, unload, status, start, stop: what the daemon is doing.
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include <poll.h>

#include "ipc/cli/commands.h"
#include "ipc/cli/output.h"
#include "ipc/client/daemon_process.h"

namespace hearth::cli {
namespace {

using protocol::LoadedModel;
using protocol::Status;

std::vector<std::string> row_of(const LoadedModel& model) {
    return {model.id,
            model.state,
            std::to_string(model.running),
            std::to_string(model.waiting),
            human_size(model.private_bytes),
            std::to_string(model.context),
            std::to_string(model.pages_total - model.pages_free) + " / " +
                std::to_string(model.pages_total),
            model.pid > 0 ? std::to_string(model.pid) : ""};
}

void print_loaded(const std::vector<LoadedModel>& models) {
    std::vector<std::vector<std::string>> rows;
    for (const LoadedModel& model : models) rows.push_back(row_of(model));
    print_table({{"MODEL"},
                 {"STATE"},
                 {"RUNNING", true},
                 {"WAITING", true},
                 {"MEMORY", true},
                 {"CONTEXT", true},
                 {"PAGES", true},
                 {"PID", true}},
                rows);
}

void ps(Context& context) {
    if (!ensure_daemon(context)) return;
    const auto status = context.client.status();
    if (!status) return fail(context, status.error());
    if (context.json) return print_json(protocol::to_json(*status).at("models"));
    if (status->models.empty()) {
        std::cout << "No model is loaded; the first request loads one.\n";
        return;
    }
    print_loaded(status->models);
}

std::string tcp_words(const protocol::TcpStatus& tcp) {
    if (!tcp.on) return "off: " + printable(tcp.reason);
    return printable(tcp.base_url) + (tcp.reason.empty() ? ", with the token of `hearth token`"
                                                         : ": " + printable(tcp.reason));
}

void print_status(const Status& status) {
    std::cout << "hearthd " << status.version << ", pid " << status.pid << ", up "
              << human_seconds(status.uptime_s) << ", " << human_size(status.resident_bytes) << '\n'
              << "socket   " << printable(status.socket) << '\n'
              << "TCP      " << tcp_words(status.tcp) << '\n'
              << "models   " << status.installed << " installed, " << status.models.size()
              << " loaded\n"
              << "requests " << status.running << " running\n"
              << "unload   "
              << (status.idle_unload_s > 0
                      ? "after " + human_seconds(status.idle_unload_s) + " without use"
                      : std::string("by hand only"))
              << '\n';
    for (const std::string& note : status.notes)
        std::cout << "note     " << printable(note) << '\n';
    if (!status.log.empty()) std::cout << "log      " << printable(status.log) << '\n';
    for (const protocol::Quarantined& model : status.quarantined)
        std::cout << "quarantined: " << model.id << ": " << printable(model.reason) << '\n';
    if (status.models.empty()) return;
    std::cout << '\n';
    print_loaded(status.models);
    for (const LoadedModel& model : status.models) {
        if (model.backend.empty()) continue;
        std::cout << '\n'
                  << model.id << ": " << printable(model.backend) << "; sandbox: "
                  << (model.sandbox.seccomp ? "system calls filtered" : "no system call filter")
                  << (model.sandbox.landlock > 0 ? ", no file access" : "");
        if (!model.sandbox.missing.empty())
            std::cout << " (" << printable(model.sandbox.missing) << ')';
        std::cout << '\n';
    }
}

// Status never starts a daemon: that none runs is an answer.
void status(Context& context) {
    const auto status = context.client.status();
    if (!status && status.error().code == ErrorCode::io_failed) {
        std::cerr << "hearthd is not running (" << printable(context.client.socket_path())
                  << "). It starts with the next command that needs it, or with: hearth start\n";
        context.exit_code = kExitFailed;
        return;
    }
    if (!status) return fail(context, status.error());
    if (context.json) return print_json(protocol::to_json(*status));
    print_status(*status);
}

void load(Context& context, const std::string& id, bool force) {
    if (!ensure_daemon(context)) return;
    const auto loaded = context.client.load(id, {.force = force});
    if (!loaded) return fail(context, loaded.error());
    if (context.json) return print_json(protocol::to_json(*loaded));
    std::cout << "Loaded " << loaded->id << " in " << static_cast<int>(loaded->load_ms) << " ms ("
              << printable(loaded->backend) << ")\n";
}

void unload(Context& context, const std::string& id) {
    if (!ensure_daemon(context)) return;
    const auto unloaded = context.client.unload(id);
    if (!unloaded) return fail(context, unloaded.error());
    if (context.json) return print_json(boost::json::object{{"unloaded", id}});
    std::cout << "Unloaded " << id << '\n';
}

// What `hearthd --version` prints, or nothing when there is no such program.
std::string installed_version() {
    const auto program = client::program_beside_us("hearthd");
    if (!program) return {};
    const std::string command = "'" + *program + "' --version 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    std::array<char, 512> buffer{};
    std::string text;
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
    pclose(pipe);
    return text;
}

bool wait_until_gone(const client::Client& client) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (client.answers()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        poll(nullptr, 0, 50);
    }
    return true;
}

bool stop_and_wait(Context& context) {
    const auto asked = context.client.shutdown();
    if (!asked && asked.error().code != ErrorCode::io_failed) {
        fail(context, asked.error());
        return false;
    }
    if (wait_until_gone(context.client)) return true;
    fail(context, {ErrorCode::timed_out, "hearthd did not end within 10 s; see its log"});
    return false;
}

void start(Context& context, bool replace) {
    const auto running = context.client.status();
    if (running) {
        const bool is_ours = installed_version().find(running->build) != std::string::npos;
        if (is_ours || !replace) {
            std::cout << "hearthd runs already (pid " << running->pid
                      << (is_ours
                              ? ")\n"
                              : ", of another build; replace it with: hearth start --replace)\n");
            return;
        }
        std::cout << "Replacing a daemon of another build (pid " << running->pid << ")\n";
        if (!stop_and_wait(context)) return;
    }
    if (!ensure_daemon(context)) return;
    const auto status = context.client.status();
    if (!status) return fail(context, status.error());
    std::cout << "hearthd runs (pid " << status->pid << ")\n";
}

void stop(Context& context) {
    if (!context.client.answers()) {
        std::cout << "hearthd is not running\n";
        return;
    }
    if (stop_and_wait(context)) std::cout << "Stopped\n";
}

}  // namespace

void add_daemon_commands(CLI::App& app, Context& context) {
    auto* ps_command = app.add_subcommand("ps", "Loaded models");
    ps_command->add_flag("--json", context.json, "Print JSON");
    ps_command->callback([&context] { ps(context); });

    auto* status_command = app.add_subcommand("status", "The daemon and what it is doing");
    const auto watch = std::make_shared<bool>(false);  // shared by the option and the callback
    status_command->add_flag("--json", context.json, "Print JSON; with --watch one line per event");
    status_command->add_flag("--watch", *watch, "Go on with what happens, until Ctrl-C");
    status_command->callback(
        [&context, watch] { *watch ? watch_status(context) : status(context); });

    const auto id =
        std::make_shared<std::string>();  // shared by the options and callbacks of CLI11
    auto* load_command = app.add_subcommand("load", "Load a model before it is asked");
    load_command->add_option("MODEL", *id, "Its id, as in `hearth list`")->required();
    const auto force = std::make_shared<bool>(false);  // shared likewise
    load_command->add_flag("--force", *force, "Even when it is quarantined");
    load_command->add_flag("--json", context.json, "Print JSON");
    load_command->callback([&context, id, force] { load(context, *id, *force); });

    auto* unload_command = app.add_subcommand("unload", "Free a model's memory");
    unload_command->add_option("MODEL", *id, "Its id")->required();
    unload_command->add_flag("--json", context.json, "Print JSON");
    unload_command->callback([&context, id] { unload(context, *id); });

    const auto replace = std::make_shared<bool>(false);  // shared likewise
    auto* start_command = app.add_subcommand("start", "Start the daemon when none runs");
    start_command->add_flag("--replace", *replace, "Replace one of another build");
    start_command->callback([&context, replace] { start(context, *replace); });

    auto* stop_command = app.add_subcommand("stop", "Stop the daemon");
    stop_command->callback([&context] { stop(context); });
}

}  // namespace hearth::cli
