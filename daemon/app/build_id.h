// Which binaries these are: equal for equal hearthd and hearth-worker, different after a rebuild
// that changed either.
#pragma once

#include <string>

namespace hearth::app {

// From the linker's build id notes: "3f2a90c1d4e5-81b7c2d3e4f5". A program that cannot be read is
// "none".
std::string build_id(const std::string& worker_path);

}  // namespace hearth::app
