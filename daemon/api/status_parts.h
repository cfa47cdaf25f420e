// What the supervisor knows, in the words of the protocol.
#pragma once

#include "daemon/supervise/supervisor.h"
#include "ipc/protocol/status.h"

namespace hearth::api {

protocol::LoadedModel describe(const supervise::LoadedModel& model);

}  // namespace hearth::api
