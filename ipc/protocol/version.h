// What daemon and clients must agree on before they speak: numbers and names.
#pragma once

#include <cstddef>

namespace hearth::protocol {

constexpr int kProtocolVersion = 1;

// Exit codes of hearthd. 1: it could not start (the reason is on stderr and in the log); 2: bad
// arguments or configuration; 3: another hearthd serves this socket.
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitAlreadyRunning = 3;

// Of an answer: the fields of the request that the daemon does not know, "a, messages[0].b".
constexpr const char* kUnknownFieldsHeader = "X-Hearth-Unknown-Fields";

constexpr std::size_t kMaxHeaderBytes = 16UL << 10U;
constexpr std::size_t kMaxBodyBytes = 32UL << 20U;
constexpr int kMaxJsonDepth = 64;

}  // namespace hearth::protocol
