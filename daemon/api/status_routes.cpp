// Health, status, shutdown.
#include <unistd.h>

#include "daemon/api/failure_reply.h"
#include "daemon/api/routes.h"
#include "daemon/api/status_parts.h"
#include "daemon/supervise/proc_memory.h"
#include "ipc/protocol/version.h"

namespace hearth::api {
namespace {

class StatusActivity final : public Activity {
public:
    StatusActivity(Services& services, ReplyStream& stream) {
        services.supervisor.list(lifeline_.guard(
            [&services, &stream](const std::vector<supervise::LoadedModel>& models) {
                protocol::Status status = own_status(services);
                for (const auto& model : models) status.models.push_back(describe(model));
                stream.send(json_reply(protocol::to_json(status)));
            }));
    }

private:
    Lifeline lifeline_;
};

}  // namespace

protocol::Status own_status(const Services& services) {
    using Seconds = std::chrono::duration<double>;
    protocol::Status status;
    status.version = services.facts.version;
    status.build = services.facts.build;
    status.protocol = protocol::kProtocolVersion;
    status.pid = ::getpid();
    status.uptime_s = Seconds(std::chrono::steady_clock::now() - services.facts.started).count();
    status.socket = services.facts.socket;
    const Reach reach = services.reach();
    status.tcp = reach.tcp;
    status.connections = static_cast<int>(reach.connections);
    status.resident_bytes = supervise::resident_bytes_of(::getpid());
    status.installed = static_cast<int>(services.library.library().packages().size());
    status.running = services.generations.in_flight();
    status.idle_unload_s = Seconds(services.facts.idle_unload).count();
    status.notes = services.facts.notes;
    for (const auto& [id, reason] : services.supervisor.quarantined())
        status.quarantined.push_back({id, reason});
    if (services.facts.log_trouble) status.log = services.facts.log_trouble();
    return status;
}

protocol::LoadedModel describe(const supervise::LoadedModel& model) {
    protocol::LoadedModel out;
    out.id = model.id;
    out.path = model.path;
    out.state = to_string(model.state);
    out.pid = model.pid;
    out.backend = model.info.backend;
    out.context = model.info.context;
    out.weight_bytes = model.info.weight_bytes;
    out.kv_bytes = model.info.kv_bytes;
    out.resident_bytes = model.resident_bytes;
    out.private_bytes = model.private_bytes;
    out.load_ms = model.load_ms;
    out.unused_ms = static_cast<double>(model.unused.count());
    out.generations = model.generations;
    out.running = model.stats.running;
    out.waiting = model.stats.waiting;
    out.pages_free = model.stats.pages_free;
    out.pages_total = model.stats.pages_total;
    out.steps = model.stats.steps;
    out.prompt_tokens = model.stats.prompt_tokens;
    out.generated_tokens = model.stats.generated_tokens;
    out.sandbox = {model.sandbox.no_new_privileges, model.sandbox.seccomp, model.sandbox.landlock,
                   model.sandbox.missing};
    return out;
}

ActivityPtr health(Services&, const Request&, ReplyStream& stream) {
    stream.send(json_reply({{"status", "ok"}}));
    return nullptr;
}

ActivityPtr status(Services& services, const Request&, ReplyStream& stream) {
    return std::make_unique<StatusActivity>(services, stream);
}

ActivityPtr shut_down(Services& services, const Request&, ReplyStream& stream) {
    stream.send(json_reply({{"status", "stopping"}}));
    services.shut_down();
    return nullptr;
}

}  // namespace hearth::api
