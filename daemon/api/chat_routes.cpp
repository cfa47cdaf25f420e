// /v1/chat/completions and /v1/completions: JSON → structs → generations.
#include "daemon/api/failure_reply.h"
#include "daemon/api/generation_activity.h"
#include "daemon/api/orders.h"
#include "daemon/api/request_body.h"
#include "daemon/api/routes.h"
#include "models/library/file_identity.h"

namespace hearth::api {
namespace {

// Everything after the request has been read, for both kinds.
template <typename AnyRequest>
ActivityPtr start(Services& services, const AnyRequest& request, bool is_chat,
                  ReplyStream& stream) {
    const protocol::GenerationOptions& options = request.options;
    const auto package = services.library.library().resolve(options.model);
    if (!package) {
        stream.send(failure_reply(protocol::Failure{package.error(), "model"}));
        return nullptr;
    }
    auto file = model_file(services, **package);
    if (!file) {
        stream.send(failure_reply(protocol::Failure{file.error(), "model"}));
        return nullptr;
    }
    const std::uint64_t seed = options.seed ? *options.seed : generate::Generations::draw_seed();
    GenerationPlan plan;
    plan.order = {*std::move(file), order_for(request, seed)};
    plan.choices = options.choices;
    plan.is_chat = is_chat;
    plan.stream = options.stream;
    plan.include_usage = options.include_usage;
    plan.token_ids = options.return_token_ids;
    return std::make_unique<GenerationActivity>(services.generations, std::move(plan), stream);
}

}  // namespace

Result<supervise::ModelFile> model_file(const Services& services, const library::Package& package) {
    if (const std::string complaint = library::complaint_about(package); !complaint.empty())
        return Error{ErrorCode::not_found, complaint};
    supervise::ModelFile file{package.id, package.files.front().path, services.load_defaults};
    file.options.name = package.name;
    return file;
}

ActivityPtr chat(Services& services, const Request& request, ReplyStream& stream) {
    auto parsed = read_body(request.body, protocol::read_chat_request);
    if (const auto* failure = std::get_if<protocol::Failure>(&parsed)) {
        stream.send(failure_reply(*failure));
        return nullptr;
    }
    return start(services, std::get<protocol::ChatRequest>(parsed), true, stream);
}

ActivityPtr complete(Services& services, const Request& request, ReplyStream& stream) {
    auto parsed = read_body(request.body, protocol::read_completion_request);
    if (const auto* failure = std::get_if<protocol::Failure>(&parsed)) {
        stream.send(failure_reply(*failure));
        return nullptr;
    }
    return start(services, std::get<protocol::CompletionRequest>(parsed), false, stream);
}

}  // namespace hearth::api
