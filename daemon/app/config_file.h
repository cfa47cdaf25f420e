// A TOML file of flat settings as text. The only file that includes toml++ is its .cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace hearth::app {

struct ConfigEntry {
    std::string key;
    std::string value;  // numbers in their shortest form
    int line = 0;
};

// Nothing when there is no file. bad_input with file and line when it is not TOML, or holds lists
// or tables.
Result<std::vector<ConfigEntry>> read_config_file(const std::string& path);

}  // namespace hearth::app
