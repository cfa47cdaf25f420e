// What the daemon is, and what it is doing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

// What confines a worker, as found in force.
struct Sandbox {
    bool no_new_privileges = false;
    bool seccomp = false;
    int landlock = 0;     // version of the kernel's interface; 0: none
    std::string missing;  // why a part is not in force; empty when all is
};

struct LoadedModel {
    std::string id;
    std::string path;
    std::string state;  // "waiting", "loading", "ready", "stopping"
    int pid = 0;
    std::string backend;
    int context = 0;  // tokens per sequence here
    std::uint64_t weight_bytes = 0;
    std::uint64_t kv_bytes = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t private_bytes = 0;
    double load_ms = 0.0;
    double unused_ms = 0.0;
    int generations = 0;  // running or waiting, as the daemon counts
    int running = 0;      // as the worker counts
    int waiting = 0;
    int pages_free = 0;
    int pages_total = 0;
    std::uint64_t steps = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint64_t generated_tokens = 0;
    Sandbox sandbox;
};

// The door for programs that cannot use the Unix socket.
struct TcpStatus {
    bool on = false;
    std::string base_url;  // "http://127.0.0.1:7411/v1"; empty when off
    std::string reason;    // why it is off, or why nobody gets in; empty when all is well
};

struct Quarantined {
    std::string id;
    std::string reason;
};

struct Status {
    std::string version;
    std::string build;  // equal for equal binaries of hearthd and hearth-worker
    int protocol = 0;
    int pid = 0;
    double uptime_s = 0.0;
    std::string socket;
    TcpStatus tcp;
    int connections = 0;
    std::uint64_t resident_bytes = 0;  // of the daemon
    int installed = 0;                 // models
    int running = 0;                   // generations in flight
    double idle_unload_s = 0.0;        // 0: never
    std::string log;                   // why nothing is logged; empty when all is well
    std::vector<std::string> notes;    // sentences for the user: what is off, and what to do
    std::vector<LoadedModel> models;   // loaded ones
    std::vector<Quarantined> quarantined;
};

json::object to_json(const LoadedModel& model);
LoadedModel read_loaded_model(Fields& fields);
json::object to_json(const Status& status);
Status read_status(Fields& fields);

}  // namespace hearth::protocol
