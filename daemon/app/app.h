// Makes every part of the daemon in the order they need each other, runs them, stops them in
// reverse.
//
// Threads: the main one ("hearth-net" in our headers) has all sockets, workers and generations;
// "hearth-store" has SQLite; "hearth-jobs" hashes and copies.
#pragma once

#include <memory>

#include "daemon/app/config.h"
#include "engine/base/result.h"
#include "ipc/protocol/paths.h"

namespace hearth::app {

std::string version();

class App {
public:
    // busy when another hearthd serves the socket.
    static Result<std::unique_ptr<App>> make(const Config& config, const protocol::Paths& paths);
    ~App();
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    // Until SIGTERM, SIGINT, SIGHUP or a request to shut down; then at most 5 s more.
    void run();

private:
    class Parts;
    explicit App(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace hearth::app
