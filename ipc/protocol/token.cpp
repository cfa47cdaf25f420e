#include "ipc/protocol/token.h"

namespace hearth::protocol {

json::object to_json(const TokenInfo& info) {
    json::object out;
    // null and not an empty text: a program must not send it by mistake.
    if (info.token.empty())
        out["token"] = nullptr;
    else
        out["token"] = info.token;
    out["path"] = info.path;
    return out;
}

TokenInfo read_token_info(Fields& fields) {
    return {fields.text("token").value_or(""), fields.text("path").value_or("")};
}

}  // namespace hearth::protocol
