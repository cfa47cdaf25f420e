// spdlog behind the engine's log sink: a rotating file (5 of 10 MiB), and stderr when that is a
// terminal. No prompt, no reply and no secret is ever given to it.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace hearth::app {

// Call once, before any other thread starts. `folder` is made when it is not there.
Result<void> start_logging(const std::string& folder, const std::string& level);
void stop_logging();

}  // namespace hearth::app
