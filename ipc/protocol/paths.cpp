#include "ipc/protocol/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hearth::protocol {
namespace {

std::string absolute_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? std::string(value) : std::string();
}

std::string home_directory() {
    if (std::string home = absolute_variable("HOME"); !home.empty()) return home;
    const passwd* user = ::getpwuid(::getuid());
    return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

std::string directory(const char* variable, std::string_view fallback) {
    std::string base = absolute_variable(variable);
    if (base.empty()) base = home_directory() + std::string(fallback);
    return base + "/hearth";
}

}  // namespace

Paths user_paths() {
    Paths paths;
    paths.config = directory("XDG_CONFIG_HOME", "/.config");
    paths.data = directory("XDG_DATA_HOME", "/.local/share");
    paths.state = directory("XDG_STATE_HOME", "/.local/state");
    paths.cache = directory("XDG_CACHE_HOME", "/.cache");
    const std::string runtime = absolute_variable("XDG_RUNTIME_DIR");
    paths.run = runtime.empty() ? paths.state + "/run" : runtime + "/hearth";
    paths.socket = absolute_variable("HEARTH_SOCKET");
    if (paths.socket.empty()) paths.socket = paths.run + "/hearth.sock";
    return paths;
}

}  // namespace hearth::protocol
