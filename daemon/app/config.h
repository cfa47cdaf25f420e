// Settings of hearthd: config.toml, then environment, then arguments; the later wins. Every setting
// has one name in three spellings: `idle_unload` in the file, HEARTH_IDLE_UNLOAD, --idle-unload.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "ipc/protocol/paths.h"

namespace hearth::app {

struct Config {
    std::string socket;                              // empty: Paths::socket
    bool tcp = true;                                 // on 127.0.0.1
    int port = 7411;                                 // 0: a free one
    std::vector<std::string> allow_origin;           // web pages that may come in
    std::string worker;                              // path of hearth-worker; empty: beside hearthd
    std::chrono::milliseconds idle_unload{600'000};  // 0: never
    std::chrono::milliseconds request_time{0};       // longest generation; 0: no limit
    std::chrono::milliseconds hang_time{30'000};     // of silence, then a worker is killed
    int max_loaded = 2;                              // models
    int max_waiting = 64;            // generations per model beyond those that may run
    std::string log_level = "info";  // "debug", "info", "warning", "error"
    bool log_prompts = false;

    // How models are loaded.
    std::string backend = "auto";
    int threads = 0;             // 0: one per physical core
    int context = 0;             // tokens per sequence; 0: the model's own, as far as memory allows
    std::uint64_t kv_bytes = 0;  // for keys and values; 0: a share of what is free
    int max_sequences = 0;       // running at once in one model; 0: the engine's default
    std::string key_type = "f16";
    std::string value_type = "f16";
};

// What the arguments ask for besides settings.
enum class Command { serve, help, version };

struct Startup {
    Command command = Command::serve;
    Config config;
};

// bad_input naming the setting, where it was found, and what it must be.
Result<Startup> read_config(const protocol::Paths& paths, std::span<const char* const> arguments);

// One line per setting, for --help.
std::string describe_settings();

}  // namespace hearth::app
