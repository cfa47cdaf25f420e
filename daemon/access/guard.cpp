#include "daemon/access/guard.h"

#include <algorithm>

namespace hearth::access {
namespace {

bool holds(const std::vector<std::string>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

Verdict forbidden(std::string message) {
    return {.status = 403, .code = "forbidden", .message = std::move(message), .origin = {}};
}

bool is_for_us(const Claims& claims, const Door& door) {
    if (claims.authority && !holds(door.hosts, *claims.authority)) return false;
    return claims.hosts.size() == 1 && holds(door.hosts, claims.hosts.front());
}

// Browsers say where a page stands: "none" is the address bar, "same-origin" is ourselves.
bool is_from_elsewhere(const Claims& claims) {
    return std::any_of(
        claims.fetch_sites.begin(), claims.fetch_sites.end(),
        [](const std::string& site) { return site != "none" && site != "same-origin"; });
}

// The token of "Bearer …", in any case; empty when that is not what stands there.
std::string_view bearer(const Claims& claims) {
    constexpr std::string_view kScheme = "bearer ";
    if (claims.authorizations.size() != 1) return {};
    std::string_view text = claims.authorizations.front();
    if (text.size() <= kScheme.size()) return {};
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    for (std::size_t i = 0; i < kScheme.size(); ++i)
        if (lower(text[i]) != kScheme[i]) return {};
    text.remove_prefix(kScheme.size());
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

Verdict judge(const Claims& claims, const Door& door, Permission permission,
              const Keyring& keyring) {
    if (door.over_tcp && !is_for_us(claims, door))
        return forbidden("the Host header must say " + door.hosts.front() +
                         " or localhost with this port, once");
    Verdict verdict;
    if (!claims.origins.empty()) {
        if (claims.origins.size() != 1 || !holds(door.origins, claims.origins.front()))
            return forbidden(
                "web pages are refused; the setting allow_origin lists origins that may come in");
        verdict.origin = claims.origins.front();
        if (claims.method == "OPTIONS" && claims.asks_for_method) {
            verdict.status = 204;
            return verdict;
        }
    } else if (is_from_elsewhere(claims)) {
        return forbidden("requests that a web page of another site causes are refused");
    }
    if (!door.over_tcp || permission == Permission::open || keyring.opens(bearer(claims)))
        return verdict;
    verdict.status = 401;
    verdict.code = "unauthorized";
    verdict.message =
        "over TCP every request needs the header 'Authorization: Bearer TOKEN' with the token "
        "that `hearth token` prints";
    return verdict;
}

bool is_origin(std::string_view text) {
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view host = text.substr(colon + 3);
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '+' || c == ':' || c == '[' || c == ']';
    };
    return !host.empty() && std::all_of(host.begin(), host.end(), is_plain) &&
           std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_plain);
}

}  // namespace hearth::access
