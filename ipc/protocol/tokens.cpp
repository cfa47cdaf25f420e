#include "ipc/protocol/tokens.h"

#include "ipc/protocol/parts.h"

namespace hearth::protocol {
namespace {

json::array ids_json(const std::vector<std::int32_t>& ids) {
    return json::array(ids.begin(), ids.end());
}

std::vector<std::int32_t> required_ids(Fields& fields, const char* name) {
    const json::array* list = fields.array(name);
    if (list != nullptr) return read_ids(*list, fields.path_of(name), fields);
    fields.fail(fields.path_of(name), "'" + std::string(name) + "' must be a list of token ids");
    return {};
}

json::object piece_json(const TokenPiece& piece) {
    json::array bytes;
    for (const char byte : piece.bytes) bytes.emplace_back(static_cast<unsigned char>(byte));
    return {{"text", piece.text}, {"bytes", std::move(bytes)}};
}

TokenPiece read_piece(const json::value& value, Fields& fields) {
    TokenPiece piece;
    const json::object* object = value.if_object();
    if (object == nullptr) {
        fields.fail("pieces", "an entry of 'pieces' is not an object");
        return piece;
    }
    Fields reader(*object, "pieces");
    piece.text = reader.text("text").value_or("");
    if (const json::array* bytes = reader.array("bytes"))
        for (const json::value& byte : *bytes)
            piece.bytes += static_cast<char>(byte.is_int64() ? byte.get_int64() : '?');
    fields.adopt(reader);
    return piece;
}

}  // namespace

json::object to_json(const TokenizeRequest& request) {
    json::object out;
    if (const auto* chat = std::get_if<ChatRequest>(&request.input))
        out = to_json(*chat);
    else
        out["text"] = std::get<std::string>(request.input);
    if (!request.model.empty()) out["model"] = request.model;
    if (!request.parse_special) out["parse_special"] = false;
    if (request.add_bos) out["add_bos"] = *request.add_bos;
    if (request.with_pieces) out["with_pieces"] = true;
    return out;
}

TokenizeRequest read_tokenize_request(Fields& fields) {
    TokenizeRequest request;
    request.model = fields.text("model").value_or("");
    request.parse_special = fields.flag("parse_special").value_or(true);
    request.add_bos = fields.flag("add_bos");
    request.with_pieces = fields.flag("with_pieces").value_or(false);
    const bool has_text = fields.value("text") != nullptr;
    const bool has_messages = fields.value("messages") != nullptr;
    if (has_text == has_messages)
        fields.fail(has_text ? "messages" : "text",
                    "either 'text' or 'messages' must be given, and not both");
    if (has_messages)
        request.input = read_chat_request(fields);
    else
        request.input = fields.text("text").value_or("");
    return request;
}

json::object to_json(const TokenizeReply& reply) {
    json::object out = {
        {"model", reply.model}, {"count", reply.ids.size()}, {"ids", ids_json(reply.ids)}};
    if (reply.pieces.empty()) return out;
    json::array& pieces = out["pieces"].emplace_array();
    for (const TokenPiece& piece : reply.pieces) pieces.emplace_back(piece_json(piece));
    return out;
}

TokenizeReply read_tokenize_reply(Fields& fields) {
    TokenizeReply reply;
    reply.model = fields.text("model").value_or("");
    reply.ids = required_ids(fields, "ids");
    if (const json::array* pieces = fields.array("pieces"))
        for (const json::value& piece : *pieces) reply.pieces.push_back(read_piece(piece, fields));
    return reply;
}

json::object to_json(const DetokenizeRequest& request) {
    json::object out = {{"ids", ids_json(request.ids)}};
    if (!request.model.empty()) out["model"] = request.model;
    return out;
}

DetokenizeRequest read_detokenize_request(Fields& fields) {
    DetokenizeRequest request;
    request.model = fields.text("model").value_or("");
    request.ids = required_ids(fields, "ids");
    return request;
}

json::object to_json(const DetokenizeReply& reply) {
    return {{"model", reply.model}, {"text", reply.text}};
}

DetokenizeReply read_detokenize_reply(Fields& fields) {
    DetokenizeReply reply;
    reply.model = fields.text("model").value_or("");
    reply.text = fields.required_text("text");
    return reply;
}

json::object to_json(const RenderReply& reply) {
    return {{"model", reply.model},
            {"prompt", reply.prompt},
            {"count", reply.ids.size()},
            {"ids", ids_json(reply.ids)}};
}

RenderReply read_render_reply(Fields& fields) {
    RenderReply reply;
    reply.model = fields.text("model").value_or("");
    reply.prompt = fields.required_text("prompt");
    reply.ids = required_ids(fields, "ids");
    return reply;
}

}  // namespace hearth::protocol
