// Where things lie: the XDG directories of this user. Setting XDG_* isolates an instance.
#pragma once

#include <string>

namespace hearth::protocol {

struct Paths {
    std::string config;  // $XDG_CONFIG_HOME/hearth, else ~/.config/hearth
    std::string data;    // $XDG_DATA_HOME/hearth, else ~/.local/share/hearth
    std::string state;   // $XDG_STATE_HOME/hearth, else ~/.local/state/hearth
    std::string cache;   // $XDG_CACHE_HOME/hearth, else ~/.cache/hearth
    std::string run;     // $XDG_RUNTIME_DIR/hearth, else <state>/run
    std::string socket;  // $HEARTH_SOCKET, else <run>/hearth.sock
};

// From the environment. Variables that are empty or not absolute paths are ignored, as the XDG
// specification asks. Without HOME the home directory of the user database is used.
Paths user_paths();

}  // namespace hearth::protocol
