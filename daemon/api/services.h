// What the routes work with. `app` makes the parts and outlives them all.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "daemon/api/library_service.h"
#include "daemon/api/telemetry.h"
#include "daemon/api/token_service.h"
#include "daemon/generate/generations.h"
#include "daemon/supervise/supervisor.h"
#include "ipc/protocol/status.h"

namespace hearth::api {

struct DaemonFacts {
    std::string version;
    std::string build;
    std::string socket;
    std::chrono::steady_clock::time_point started;
    std::chrono::milliseconds idle_unload{0};   // 0: never
    std::function<std::string()> log_trouble;   // why nothing is logged; empty when all is well
    std::vector<std::string> notes;             // for the user: what was found at the start
    std::chrono::milliseconds request_time{0};  // of requests that name none; 0: no limit
};

// How the daemon can be reached just now.
struct Reach {
    protocol::TcpStatus tcp;
    std::size_t connections = 0;
};

struct Services {
    LibraryService& library;
    supervise::Supervisor& supervisor;
    generate::Generations& generations;
    Telemetry& telemetry;
    DaemonFacts facts;
    wire::Load load_defaults;         // how models are loaded; the name is set per model
    std::function<void()> shut_down;  // returns at once
    TokenService& token;
    std::function<Reach()> reach;
    bool log_prompts = false;  // bodies of requests for text go into the log
};

// The model file and its options for the supervisor. not_found or io_failed when the file is gone
// or is not the one that was imported.
Result<supervise::ModelFile> model_file(const Services& services, const library::Package& package);

}  // namespace hearth::api
