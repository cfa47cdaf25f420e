// Who may come in: decides from the head of a request alone, before it is routed and before its
// body is read.
//
// Over TCP: the Host must be exactly one that we listen as (which stops rebinding of names), and
// every route but the open ones wants the token. Through both doors: what a browser sends for a
// page (Origin, Sec-Fetch-Site) is refused unless its origin is on the owner's list. Only browsers
// send these headers, so no other program is affected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/claims.h"
#include "daemon/access/keyring.h"
#include "daemon/access/permission.h"

namespace hearth::access {

// One listener.
struct Door {
    bool over_tcp = false;
    std::vector<std::string> hosts;    // what Host may say, over TCP: "127.0.0.1:7411", …
    std::vector<std::string> origins;  // of pages that may use us: "http://localhost:3000"
};

struct Verdict {
    int status = 0;  // 0: come in; 204: a preflight that is granted; else 401 or 403 with the words
    std::string code;
    std::string message;
    std::string origin;  // the listed origin that asks, for Access-Control-Allow-Origin; or empty
};

Verdict judge(const Claims& claims, const Door& door, Permission permission,
              const Keyring& keyring);

// "http://localhost:3000", "chrome-extension://abc": a scheme and a host, no path, no "*", not
// "null".
bool is_origin(std::string_view text);

}  // namespace hearth::access
