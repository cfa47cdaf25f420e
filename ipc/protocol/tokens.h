// Text to token ids and back, and the prompt of a chat, without generating anything.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ipc/protocol/chat.h"

namespace hearth::protocol {

struct TokenizeRequest {
    std::string model;                             // empty or "default": the daemon picks
    std::variant<std::string, ChatRequest> input;  // "text", or what a chat completion takes
    bool parse_special = true;    // control tokens in a text are recognised; a chat is not asked
    std::optional<bool> add_bos;  // missing: as the model wants it
    bool with_pieces = false;
};
struct TokenPiece {
    std::string text;   // for people
    std::string bytes;  // not always UTF-8; none for control tokens
};
struct TokenizeReply {
    std::string model;
    std::vector<std::int32_t> ids;
    std::vector<TokenPiece> pieces;  // one per id when asked for
};

struct DetokenizeRequest {
    std::string model;
    std::vector<std::int32_t> ids;
};
struct DetokenizeReply {
    std::string model;
    std::string text;  // control tokens are no text
};

struct RenderReply {
    std::string model;
    std::string prompt;
    std::vector<std::int32_t> ids;
};

json::object to_json(const TokenizeRequest& request);
TokenizeRequest read_tokenize_request(Fields& fields);
json::object to_json(const TokenizeReply& reply);
TokenizeReply read_tokenize_reply(Fields& fields);

json::object to_json(const DetokenizeRequest& request);
DetokenizeRequest read_detokenize_request(Fields& fields);
json::object to_json(const DetokenizeReply& reply);
DetokenizeReply read_detokenize_reply(Fields& fields);

json::object to_json(const RenderReply& reply);
RenderReply read_render_reply(Fields& fields);

}  // namespace hearth::protocol
