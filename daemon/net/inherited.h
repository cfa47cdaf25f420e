// Listening sockets that a service manager made before it started us: descriptors from 3 on, as
// LISTEN_FDS counts them when LISTEN_PID names this process.
#pragma once

namespace hearth::net {

// Descriptors, -1 where there is none; whoever takes one closes it.
struct Inherited {
    int unix_socket = -1;
    int tcp = -1;
};

// Call once, while there is one thread: it removes the variables, so that no child believes that
// they are meant for it. The first socket of each family counts; the rest are closed.
Inherited take_inherited();

}  // namespace hearth::net
