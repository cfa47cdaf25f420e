// What the daemon knows, in the words of the protocol.
#pragma once

#include "daemon/api/services.h"
#include "daemon/supervise/supervisor.h"
#include "ipc/protocol/library.h"
#include "ipc/protocol/status.h"

namespace hearth::api {

protocol::LoadedModel describe(const supervise::LoadedModel& model);
// Without the models.
protocol::Status own_status(const Services& services);
protocol::ModelEntry entry_for(const library::Library& library,
                               const supervise::Supervisor& supervisor,
                               const library::Package& package);

}  // namespace hearth::api
