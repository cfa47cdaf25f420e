// Confines this process before it reads foreign data: no new privileges, no sockets, no programs,
// no processes, no files beyond a short list, no core dumps. Descriptors that are open stay usable.
//
// Call it before any other thread is started; it cannot be undone.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "ipc/worker/messages.h"

namespace hearth::worker {

struct SandboxOptions {
    std::vector<std::string> readable;  // files that may still be opened
    std::string writable_folder;        // where files may be made and renamed; empty: nowhere
};

// What is in force afterwards. A kernel without Landlock is stated there; io_failed only when the
// system call filter cannot be installed.
Result<wire::Sandbox> enter_sandbox(const SandboxOptions& options = {});

}  // namespace hearth::worker
