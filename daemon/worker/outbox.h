// From the engine's events to frames on the socket. The engine's thread never waits here: it leaves
// its events, and thread "hearth-writer" sends them. A generation without credit gathers its deltas
// into one, so a slow reader costs memory, up to a limit, and holds up nobody.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/generate/request.h"
#include "ipc/worker/messages.h"

namespace hearth::worker {

class Outbox : public EventSink {
public:
    // `send` writes a message and runs on the writer's thread; false when the daemon is gone.
    // `pending_limit`: bytes, about, that a generation may gather before it is cancelled
    // (budget_exceeded).
    using Send = std::function<bool(std::uint64_t request, const wire::FromWorker& message)>;
    explicit Outbox(Send send, std::size_t pending_limit = 8U << 20U);
    ~Outbox() override;  // sends what is left

    // How a generation that gathered too much is cancelled; null: not at all. Waits for a call that
    // runs.
    void set_canceller(std::function<void(std::uint64_t)> cancel);

    // Before the engine gets the generation. `logprobs` as in the request.
    void open(std::uint64_t generation, std::uint32_t credit, int logprobs);
    // The engine did not take it, or it cannot be handed over.
    void refuse(std::uint64_t generation, Error error);
    // Its client is gone: gathered deltas are dropped, and its end needs no credit.
    void drop(std::uint64_t generation);
    void add_credit(std::uint64_t generation, std::uint32_t deltas);
    bool is_open(std::uint64_t generation) const;

    void say(std::uint64_t request, wire::FromWorker message);
    void on_event(std::uint64_t generation, Event event) override;

private:
    struct Flow {
        std::uint64_t credit = 0;
        int logprobs = -1;
        wire::Delta gathered;  // its number is that of the next delta
        std::size_t gathered_bytes = 0;
        bool has_gathered = false;
        bool is_dropped = false;
        std::optional<Error> failed;          // sent in place of the engine's end
        std::optional<wire::FromWorker> end;  // waits for the deltas before it
    };

    void gather(std::uint64_t generation, Flow& flow, Delta delta);
    void flush(std::uint64_t generation);
    void put(std::uint64_t request, wire::FromWorker message);
    void write();

    Send send_;
    const std::size_t pending_limit_;

    mutable std::mutex mutex_;  // guards all below but canceller_
    std::map<std::uint64_t, Flow> flows_;
    std::vector<std::pair<std::uint64_t, wire::FromWorker>> queue_;
    std::vector<std::uint64_t> overflowed_;  // to be cancelled
    bool is_closing_ = false;
    std::condition_variable arrived_;

    std::mutex canceller_mutex_;  // held while it is called; never together with mutex_
    std::function<void(std::uint64_t)> canceller_;
    std::thread writer_;  // last: uses all the others
};

}  // namespace hearth::worker
