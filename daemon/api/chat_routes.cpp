// /v1/chat/completions and /v1/completions: JSON → structs → generations.
#include <cmath>

#include "daemon/api/failure_reply.h"
#include "daemon/api/generation_activity.h"
#include "daemon/api/orders.h"
#include "daemon/api/request_body.h"
#include "daemon/api/routes.h"
#include "engine/base/log.h"
#include "engine/base/utf8.h"
#include "models/library/file_identity.h"

namespace hearth::api {
namespace {

// Everything after the request has been read, for both kinds.
ActivityPtr start(Services& services, const protocol::GenerationOptions& options,
                  const Request& http, GenerationPlan plan, ReplyStream& stream) {
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
    plan.model = *std::move(file);
    plan.prompt_bytes = http.body.size();
    plan.time = services.facts.request_time;
    if (options.timeout_s)
        plan.time = std::chrono::milliseconds(std::llround(*options.timeout_s * 1000.0));
    if (options.client.empty())
        for (wire::Generate& order : plan.orders) order.client = http.peer;
    plan.choices = options.choices;
    plan.stream = options.stream;
    plan.include_usage = options.include_usage;
    plan.token_ids = options.return_token_ids;
    return std::make_unique<GenerationActivity>(services.generations, std::move(plan), stream);
}

std::uint64_t seed_of(const protocol::GenerationOptions& options) {
    return options.seed ? *options.seed : generate::Generations::draw_seed();
}

// Only where the user has asked for it: to see what a program really sends.
void log_prompt(const Services& services, const std::string& body) {
    constexpr std::size_t kMaxLogged = 4000;
    if (!services.log_prompts) return;
    log(LogLevel::info, "prompt: " + repair_utf8(body.substr(0, kMaxLogged)));
}

}  // namespace

Result<supervise::ModelFile> model_file(const Services& services, const library::Package& package) {
    if (const std::string complaint = library::complaint_about(package); !complaint.empty())
        return Error{ErrorCode::not_found, complaint};
    supervise::ModelFile file;
    file.id = package.id;
    file.path = package.files.front().path;
    file.options = services.load_defaults;
    file.options.name = package.name;
    return file;
}

ActivityPtr chat(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_chat_request);
    if (!wanted) return nullptr;
    log_prompt(services, request.body);
    GenerationPlan plan;
    plan.is_chat = true;
    plan.orders.push_back(order_for(*wanted, seed_of(wanted->options)));
    return start(services, wanted->options, request, std::move(plan), stream);
}

ActivityPtr complete(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_completion_request);
    if (!wanted) return nullptr;
    log_prompt(services, request.body);
    GenerationPlan plan;
    plan.is_chat = false;
    plan.orders = orders_for(*wanted, seed_of(wanted->options));
    return start(services, wanted->options, request, std::move(plan), stream);
}

}  // namespace hearth::api
