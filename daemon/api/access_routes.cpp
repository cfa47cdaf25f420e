// The token of the TCP door: show, rotate, revoke.
#include "daemon/api/failure_reply.h"
#include "daemon/api/routes.h"
#include "daemon/api/token_service.h"
#include "ipc/protocol/token.h"

namespace hearth::api {
namespace {

using Call = void (TokenService::*)(const TokenService::Done&);

class TokenActivity final : public Activity {
public:
    TokenActivity(TokenService& service, ReplyStream& stream, Call call) {
        (service.*call)(lifeline_.guard([&service, &stream](const Result<std::string>& token) {
            if (!token) return stream.send(failure_reply(token.error()));
            stream.send(json_reply(protocol::to_json(protocol::TokenInfo{*token, service.path()})));
        }));
    }

private:
    Lifeline lifeline_;
};

}  // namespace

ActivityPtr show_token(Services& services, const Request&, ReplyStream& stream) {
    return std::make_unique<TokenActivity>(services.token, stream, &TokenService::show);
}

ActivityPtr rotate_token(Services& services, const Request&, ReplyStream& stream) {
    return std::make_unique<TokenActivity>(services.token, stream, &TokenService::rotate);
}

ActivityPtr revoke_token(Services& services, const Request&, ReplyStream& stream) {
    return std::make_unique<TokenActivity>(services.token, stream, &TokenService::revoke);
}

}  // namespace hearth::api
