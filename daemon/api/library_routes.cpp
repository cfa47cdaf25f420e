// Models: list, show, import, delete, choose, load, unload.
#include <boost/json/array.hpp>

#include "daemon/api/failure_reply.h"
#include "daemon/api/pending.h"
#include "daemon/api/request_body.h"
#include "daemon/api/routes.h"
#include "daemon/api/status_parts.h"
#include "ipc/protocol/library.h"
#include "models/library/file_identity.h"

namespace hearth::api {
namespace {

namespace json = boost::json;

protocol::ModelEntry entry_of(const Services& services, const library::Package& package) {
    return entry_for(services.library.library(), services.supervisor, package);
}

json::object openai_entry(const library::Package& package) {
    return {{"id", package.id},
            {"object", "model"},
            {"created", package.added},
            {"owned_by", "hearth"}};
}

library::Placement placement_from(protocol::Link link) {
    switch (link) {
        case protocol::Link::automatic:
            return library::Placement::automatic;
        case protocol::Link::copy:
            return library::Placement::copy;
        case protocol::Link::hardlink:
            return library::Placement::hardlink;
        case protocol::Link::in_place:
            return library::Placement::in_place;
    }
    return library::Placement::automatic;
}

// The model that the path names; null when it has been answered that there is none.
const library::Package* named(const Services& services, const Request& request,
                              ReplyStream& stream) {
    const auto package = services.library.library().resolve(request.arguments.front());
    if (package) return *package;
    stream.send(failure_reply(package.error()));
    return nullptr;
}

}  // namespace

protocol::ModelEntry entry_for(const library::Library& library,
                               const supervise::Supervisor& supervisor,
                               const library::Package& package) {
    const library::PackageFile& file = package.files.front();
    protocol::ModelEntry entry;
    entry.id = package.id;
    entry.name = package.name;
    entry.path = file.path;
    for (const library::PackageFile& part : package.files) entry.size += part.identity.size;
    entry.sha256 = file.sha256;
    entry.architecture = package.architecture;
    entry.quantization = package.quantization;
    entry.context = package.context;
    entry.parameters = package.parameters;
    entry.has_chat_template = package.has_chat_template;
    entry.unsupported = package.unsupported;
    entry.added = package.added;
    entry.in_place = file.in_place;
    entry.state = to_string(library::state_of(file));
    entry.loaded = supervisor.is_loaded(package.id);
    const auto& quarantined = supervisor.quarantined();
    if (const auto found = quarantined.find(package.id); found != quarantined.end())
        entry.quarantined = found->second;
    entry.is_default = library.fallback() != nullptr && library.fallback()->id == package.id;
    return entry;
}

ActivityPtr list_for_openai(Services& services, const Request&, ReplyStream& stream) {
    json::array data;
    for (const library::Package& package : services.library.library().packages())
        data.emplace_back(openai_entry(package));
    stream.send(json_reply({{"object", "list"}, {"data", std::move(data)}}));
    return nullptr;
}

ActivityPtr show_for_openai(Services& services, const Request& request, ReplyStream& stream) {
    if (const library::Package* package = named(services, request, stream))
        stream.send(json_reply(openai_entry(*package)));
    return nullptr;
}

ActivityPtr list_models(Services& services, const Request&, ReplyStream& stream) {
    std::vector<protocol::ModelEntry> entries;
    for (const library::Package& package : services.library.library().packages())
        entries.push_back(entry_of(services, package));
    stream.send(json_reply(protocol::to_json(entries)));
    return nullptr;
}

ActivityPtr show_model(Services& services, const Request& request, ReplyStream& stream) {
    if (const library::Package* package = named(services, request, stream))
        stream.send(json_reply(protocol::to_json(entry_of(services, *package))));
    return nullptr;
}

ActivityPtr import_model(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_import_request);
    if (!wanted) return nullptr;
    auto pending = std::make_unique<Pending>(stream);
    // The import goes on when the client goes: half an import helps nobody.
    services.library.import_model(
        {wanted->path, wanted->name, placement_from(wanted->link)},
        pending->guard([&services, answer = pending.get()](const Result<Imported>& imported) {
            if (!imported) return answer->send(failure_reply(imported.error()));
            answer->send(json_reply(protocol::to_json(protocol::ImportReply{
                entry_of(services, imported->package), imported->existed, imported->placed})));
        }));
    return pending;
}

ActivityPtr delete_model(Services& services, const Request& request, ReplyStream& stream) {
    auto pending = std::make_unique<Pending>(stream);
    Pending* answer = pending.get();
    const std::string id = request.arguments.front();
    services.library.remove(
        id, [&services, id, reply = pending->guard([answer](const Result<void>& result) {
            answer->send(result);
        })](const Result<void>& removed) mutable {
            if (!removed) return reply(removed);
            services.supervisor.forget(id);
            // Also one that is only loading or waiting for room: not_found means that none is.
            services.supervisor.unload(id, [reply](const Result<void>& unloaded) mutable {
                const bool gone = unloaded || unloaded.error().code == ErrorCode::not_found;
                reply(gone ? Result<void>() : unloaded);
            });
        });
    return pending;
}

ActivityPtr choose_default(Services& services, const Request& request, ReplyStream& stream) {
    const library::Package* package = named(services, request, stream);
    if (package == nullptr) return nullptr;
    auto pending = std::make_unique<Pending>(stream);
    services.library.choose_default(
        package->id, pending->guard([answer = pending.get()](const Result<void>& result) {
            answer->send(result);
        }));
    return pending;
}

ActivityPtr load_model(Services& services, const Request& request, ReplyStream& stream) {
    const library::Package* package = named(services, request, stream);
    if (package == nullptr) return nullptr;
    auto file = model_file(services, *package);
    if (!file) {
        stream.send(failure_reply(file.error()));
        return nullptr;
    }
    if (!request.body.empty()) {
        const auto wanted = read_body(request, stream, protocol::read_load_request);
        if (!wanted) return nullptr;
        file->force = wanted->force;
    }
    auto pending = std::make_unique<Pending>(stream);
    Pending* answer = pending.get();
    const auto on_list =
        pending->guard([answer, id = file->id](const std::vector<supervise::LoadedModel>& models) {
            for (const supervise::LoadedModel& model : models)
                if (model.id == id) return answer->send(json_reply(to_json(describe(model))));
            answer->send(failure_reply(Error{
                ErrorCode::worker_died, "the model was loaded and is gone again; try once more"}));
        });
    services.supervisor.ensure_loaded(
        *file, pending->guard([&services, answer, on_list](const Result<wire::ModelInfo>& loaded) {
            if (!loaded) return answer->send(failure_reply(loaded.error()));
            services.supervisor.list(on_list);
        }));
    return pending;
}

ActivityPtr unload_model(Services& services, const Request& request, ReplyStream& stream) {
    const library::Package* package = named(services, request, stream);
    if (package == nullptr) return nullptr;
    auto pending = std::make_unique<Pending>(stream);
    services.supervisor.unload(package->id,
                               pending->guard([answer = pending.get()](const Result<void>& result) {
                                   answer->send(result);
                               }));
    return pending;
}

}  // namespace hearth::api
