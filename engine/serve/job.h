// What the engine loop is asked to do: extend a list of token ids, and tell a sink.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/result.h"
#include "engine/sample/params.h"
#include "engine/sample/sampler.h"
#include "engine/serve/scheduler.h"

namespace hearth::serve {

// Called on thread "hearth-engine", in this order: on_accepted, on_started, on_token…, on_end. Must
// not block and must not call the loop.
class TokenSink {
public:
    virtual ~TokenSink() = default;
    // The job is in the queue. False: there is nothing to do, end it.
    virtual bool on_accepted() = 0;
    // It takes part in a step for the first time.
    virtual void on_started() = 0;
    // One token more. False: enough.
    virtual bool on_token(const sample::Picked& picked) = 0;
    // The last call. Success when the sink said enough; else cancelled, or what failed.
    virtual void on_end(Result<void> result) = 0;
};

struct Job {
    std::uint64_t id = 0;           // the caller's; unique among jobs that have not ended
    std::vector<std::int32_t> ids;  // prompt, then what was generated so far; not empty
    int prompt = 0;                 // how many of them are the prompt
    sample::Params sampling;        // valid
    int logprobs = -1;              // as for Sampler::pick
    Class priority = Class::api;
    std::uint64_t client = 0;
    std::unique_ptr<TokenSink> sink;
};

}  // namespace hearth::serve
