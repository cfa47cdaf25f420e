// The token of the TCP door, as its owner sees it over the Unix socket.
#pragma once

#include <string>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

struct TokenInfo {
    std::string token;  // empty: revoked
    std::string path;   // of its file
};

json::object to_json(const TokenInfo& info);
TokenInfo read_token_info(Fields& fields);

}  // namespace hearth::protocol
