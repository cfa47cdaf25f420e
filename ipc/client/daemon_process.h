// Finding the daemon, and starting it when none answers.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "ipc/client/client.h"

namespace hearth::client {

// The path of another program of Hearth, which lies beside our own executable. not_found: it does
// not.
Result<std::string> program_beside_us(std::string_view name);

struct StartOptions {
    std::string program;                 // empty: hearthd beside our own executable
    std::vector<std::string> arguments;  // for hearthd
    std::chrono::milliseconds patience{15'000};
};

// Starts hearthd in a session of its own and waits until it answers. When two callers start one at
// the same time, both get the one that won. The error holds the last lines that hearthd wrote.
Result<void> start_daemon(const Client& client, const StartOptions& options = {});

// A client of the running daemon; starts one when none answers.
Result<Client> connect_or_start(Client client, const StartOptions& options = {});

}  // namespace hearth::client
