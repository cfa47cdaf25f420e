// The token of the TCP door: shows, replaces and revokes it. Runs on thread "hearth-net"; files are
// touched on a thread that exists from the first such call on, which most daemons never get.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/access/keyring.h"
#include "daemon/access/token_file.h"
#include "daemon/api/lifeline.h"
#include "daemon/store/task_thread.h"
#include "engine/base/result.h"

namespace hearth::api {

class TokenService {
public:
    using Done = std::function<void(Result<std::string>)>;  // the token; empty: revoked

    // `on_change` runs when the token that was good before is void, before the caller is told.
    TokenService(access::TokenFile file, access::Keyring& keyring, store::Post post,
                 std::function<void()> on_change);

    const std::string& path() const { return file_.path(); }

    // What stands in the file counts from here on, also when its owner wrote it by hand.
    void show(const Done& done);
    void rotate(const Done& done);
    // At once, even when the file cannot be written.
    void revoke(const Done& done);

private:
    void run(std::function<Result<std::string>()> work, Done done);
    void adopt(const std::string& token);

    access::TokenFile file_;
    access::Keyring& keyring_;
    store::Post post_;
    std::function<void()> on_change_;
    Lifeline lifeline_;
    std::optional<store::TaskThread> thread_;
};

}  // namespace hearth::api
