#include "daemon/api/token_service.h"

namespace hearth::api {
namespace {

constexpr std::size_t kMaxTasks = 16;

}  // namespace

TokenService::TokenService(access::TokenFile file, access::Keyring& keyring, store::Post post,
                           std::function<void()> on_change)
    : file_(std::move(file)),
      keyring_(keyring),
      post_(std::move(post)),
      on_change_(std::move(on_change)) {}

void TokenService::run(std::function<Result<std::string>()> work, Done done) {
    if (!thread_) thread_.emplace("hearth-token", kMaxTasks, post_);
    thread_->run<std::string>(std::move(work), lifeline_.guard(std::move(done)));
}

void TokenService::adopt(const std::string& token) {
    keyring_.set(token);
    on_change_();
}

void TokenService::show(const Done& done) {
    run([file = file_] { return file.read_or_make(); },
        [this, done](Result<std::string> token) {
            if (token && !keyring_.is(*token)) adopt(*token);
            done(std::move(token));
        });
}

void TokenService::rotate(const Done& done) {
    run([file = file_] { return file.rotate(); },
        [this, done](Result<std::string> token) {
            if (token) adopt(*token);
            done(std::move(token));
        });
}

void TokenService::revoke(const Done& done) {
    adopt({});
    run(
        [file = file_]() -> Result<std::string> {
            HEARTH_TRY_VOID(file.revoke());
            return std::string();
        },
        done);
}

}  // namespace hearth::api
