// What a route asks of whoever calls it.
#pragma once

#include <cstdint>

namespace hearth::access {

enum class Permission : std::uint8_t {
    open,   // anybody who reaches a listener
    token,  // the owner: over the Unix socket as such, over TCP with the token
    owner,  // over the Unix socket only: routes that take paths of files, end the daemon or show
            // the token
};

}  // namespace hearth::access
