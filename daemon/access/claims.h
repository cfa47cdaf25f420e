// What a request says about where it comes from, as its head was parsed. Headers that matter only
// when they stand there once are lists, so that a second one is seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hearth::access {

struct Claims {
    std::string method;
    std::optional<std::string> authority;  // of a target in absolute form: "http://AUTHORITY/path"
    std::vector<std::string> hosts;
    std::vector<std::string> origins;
    std::vector<std::string> authorizations;
    std::vector<std::string> fetch_sites;  // Sec-Fetch-Site
    bool asks_for_method = false;          // Access-Control-Request-Method: a preflight
};

}  // namespace hearth::access
