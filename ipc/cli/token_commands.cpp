// token: what programs need to come in over TCP.
#include <iostream>
#include <variant>

#include "ipc/cli/commands.h"
#include "ipc/cli/output.h"
#include "ipc/protocol/token.h"

namespace hearth::cli {
namespace {

Result<protocol::TokenInfo> info_from(const Result<boost::json::value>& reply) {
    if (!reply) return reply.error();
    const boost::json::object* object = reply->if_object();
    if (object == nullptr) return Error{ErrorCode::internal, "hearthd did not send an object"};
    protocol::Fields fields(*object);
    auto info = protocol::read_token_info(fields);
    if (fields.failure()) return fields.failure()->error;
    return info;
}

// The token alone goes to the standard output, so that $(hearth token) is the token.
void print_token(Context& context, const Result<boost::json::value>& reply) {
    const auto info = info_from(reply);
    if (!info) return fail(context, info.error());
    if (info->token.empty()) context.exit_code = kExitFailed;
    const auto status = context.client.status();
    if (!status) return fail(context, status.error());
    const protocol::TcpStatus& tcp = status->tcp;
    if (context.json) {
        boost::json::object out = protocol::to_json(*info);
        if (!tcp.base_url.empty()) out["base_url"] = tcp.base_url;
        if (!tcp.reason.empty()) out["reason"] = tcp.reason;
        return print_json(out);
    }
    if (!info->token.empty()) std::cout << info->token << '\n';
    if (tcp.on) std::cerr << "base URL: " << printable(tcp.base_url) << '\n';
    if (!tcp.reason.empty())
        std::cerr << (tcp.on ? "" : "TCP is off: ") << printable(tcp.reason) << '\n';
}

void show(Context& context) {
    if (ensure_daemon(context)) print_token(context, context.client.get("/hearth/v1/token"));
}

void rotate(Context& context) {
    if (ensure_daemon(context))
        print_token(context, context.client.post("/hearth/v1/token/rotate", {}));
}

void revoke(Context& context) {
    if (!ensure_daemon(context)) return;
    const auto reply = context.client.remove("/hearth/v1/token");
    if (!reply) return fail(context, reply.error());
    if (context.json) return print_json(*reply);
    std::cout << "Revoked: nobody comes in over TCP until `hearth token rotate`\n";
}

}  // namespace

void add_token_commands(CLI::App& app, Context& context) {
    auto* token = app.add_subcommand("token", "The token with which programs come in over TCP");
    token->add_flag("--json", context.json, "Print JSON");
    token->require_subcommand(0, 1);
    token->fallthrough();
    auto* rotate_command = token->add_subcommand("rotate", "Make another; the old one is void");
    auto* revoke_command = token->add_subcommand("revoke", "Let nobody in over TCP");
    token->final_callback([&context, rotate_command, revoke_command] {
        if (rotate_command->parsed()) return rotate(context);
        if (revoke_command->parsed()) return revoke(context);
        show(context);
    });
}

}  // namespace hearth::cli
