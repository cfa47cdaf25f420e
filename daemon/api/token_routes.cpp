// What a model makes of a text or a chat, without generating.
#include "daemon/api/orders.h"
#include "daemon/api/pending.h"
#include "daemon/api/request_body.h"
#include "daemon/api/routes.h"
#include "ipc/protocol/tokens.h"

namespace hearth::api {
namespace {

// Finds the model, asks it, and makes the answer of `write`.
template <typename Write>
ActivityPtr ask(Services& services, const std::string& model, supervise::Question question,
                ReplyStream& stream, Write write) {
    const auto package = services.library.library().resolve(model);
    if (!package) {
        stream.send(failure_reply(protocol::Failure{package.error(), "model"}));
        return nullptr;
    }
    const auto file = model_file(services, **package);
    if (!file) {
        stream.send(failure_reply(protocol::Failure{file.error(), "model"}));
        return nullptr;
    }
    auto pending = std::make_unique<Pending>(stream);
    services.supervisor.ask(*file, std::move(question),
                            pending->guard([answer = pending.get(), id = (*package)->id,
                                            write](Result<wire::Tokens> tokens) {
                                if (!tokens) return answer->send(failure_reply(tokens.error()));
                                answer->send(json_reply(write(id, *std::move(tokens))));
                            }));
    return pending;
}

boost::json::object tokenize_json(const std::string& id, wire::Tokens tokens) {
    protocol::TokenizeReply reply{id, std::move(tokens.ids), {}};
    for (wire::Piece& piece : tokens.pieces)
        reply.pieces.push_back({std::move(piece.text), std::move(piece.bytes)});
    return protocol::to_json(reply);
}

}  // namespace

ActivityPtr tokenize(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_tokenize_request);
    if (!wanted) return nullptr;
    wire::Tokenize question;
    if (const auto* chat = std::get_if<protocol::ChatRequest>(&wanted->input))
        question.prompt = chat_prompt(*chat);
    else
        question.prompt =
            wire::TextPrompt{std::get<std::string>(wanted->input), wanted->parse_special};
    question.add_bos = wanted->add_bos;
    question.with_pieces = wanted->with_pieces;
    return ask(services, wanted->model, std::move(question), stream, tokenize_json);
}

ActivityPtr detokenize(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_detokenize_request);
    if (!wanted) return nullptr;
    return ask(services, wanted->model, wire::Detokenize{wanted->ids}, stream,
               [](const std::string& id, wire::Tokens tokens) {
                   return protocol::to_json(protocol::DetokenizeReply{id, std::move(tokens.text)});
               });
}

ActivityPtr render(Services& services, const Request& request, ReplyStream& stream) {
    const auto wanted = read_body(request, stream, protocol::read_chat_request);
    if (!wanted) return nullptr;
    wire::Tokenize question;
    question.prompt = chat_prompt(*wanted);
    question.with_text = true;
    return ask(services, wanted->options.model, std::move(question), stream,
               [](const std::string& id, wire::Tokens tokens) {
                   return protocol::to_json(
                       protocol::RenderReply{id, std::move(tokens.text), std::move(tokens.ids)});
               });
}

}  // namespace hearth::api
