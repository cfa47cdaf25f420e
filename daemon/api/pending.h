// An answer that comes later, unless the client is gone by then.
#pragma once

#include <utility>

#include "daemon/api/failure_reply.h"
#include "daemon/api/lifeline.h"
#include "daemon/api/reply.h"
#include "engine/base/result.h"

namespace hearth::api {

class Pending final : public Activity {
public:
    explicit Pending(ReplyStream& stream) : stream_(stream) {}

    // A callback that does nothing once the client is gone.
    template <typename F>
    auto guard(F function) const {
        return lifeline_.guard(std::move(function));
    }
    void send(Reply reply) { stream_.send(std::move(reply)); }
    void send(const Result<void>& result) {
        stream_.send(result ? json_reply({}) : failure_reply(result.error()));
    }

private:
    ReplyStream& stream_;
    Lifeline lifeline_;
};

}  // namespace hearth::api
