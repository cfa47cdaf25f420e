// spdlog behind the engine's log sink: a rotating file (5 of 10 MiB), and stderr when that is a
// terminal. Secrets are taken out (redact.h), floods are counted (log_limit.h). Prompts are
// given to it only with the setting log_prompts, replies never.
#pragma once

#include <string>

namespace hearth::app {

// Call once, before any other thread starts. `folder` is made when it is not there. A log that
// cannot be written keeps nobody from working: log_trouble() says why.
void start_logging(const std::string& folder, const std::string& level);
void stop_logging();

// Why the file could not be written to lately; empty when all is well.
std::string log_trouble();

}  // namespace hearth::app
