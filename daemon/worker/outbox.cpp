// The queue is bounded by what the daemon grants: credit per generation, and a handful of messages
// besides.
#include "daemon/worker/outbox.h"

#include <pthread.h>

#include <string>

#include "daemon/worker/convert.h"

namespace hearth::worker {
namespace {

// About what a delta takes in a frame.
std::size_t size_of(const Delta& delta) {
    std::size_t bytes = delta.text.size();
    for (const PickedToken& token : delta.tokens) {
        bytes += 12 + 2 * token.bytes.size();
        for (const TokenLogprob& other : token.top) bytes += 64 + 2 * other.bytes.size();
    }
    return bytes;
}

}  // namespace

Outbox::Outbox(Send send, std::size_t pending_limit)
    : send_(std::move(send)), pending_limit_(pending_limit), writer_([this] { write(); }) {
    pthread_setname_np(writer_.native_handle(), "hearth-writer");
}

Outbox::~Outbox() {
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    arrived_.notify_all();
    writer_.join();
}

void Outbox::set_canceller(std::function<void(std::uint64_t)> cancel) {
    const std::lock_guard lock(canceller_mutex_);
    canceller_ = std::move(cancel);
}

void Outbox::open(std::uint64_t generation, std::uint32_t credit, int logprobs) {
    const std::lock_guard lock(mutex_);
    Flow& flow = flows_[generation];
    flow.credit = credit;
    flow.logprobs = logprobs;
}

void Outbox::refuse(std::uint64_t generation, Error error) {
    const std::lock_guard lock(mutex_);
    flows_.erase(generation);
    put(generation, wire::Failure{std::move(error)});
}

void Outbox::drop(std::uint64_t generation) {
    const std::lock_guard lock(mutex_);
    const auto found = flows_.find(generation);
    if (found == flows_.end()) return;
    found->second.is_dropped = true;
    found->second.has_gathered = false;
    flush(generation);
}

void Outbox::add_credit(std::uint64_t generation, std::uint32_t deltas) {
    const std::lock_guard lock(mutex_);
    const auto found = flows_.find(generation);
    if (found == flows_.end()) return;  // it ended while the credit was under way
    found->second.credit += deltas;
    flush(generation);
}

bool Outbox::is_open(std::uint64_t generation) const {
    const std::lock_guard lock(mutex_);
    return flows_.contains(generation);
}

void Outbox::say(std::uint64_t request, wire::FromWorker message) {
    const std::lock_guard lock(mutex_);
    put(request, std::move(message));
}

void Outbox::on_event(std::uint64_t generation, Event event) {
    const std::lock_guard lock(mutex_);
    const auto found = flows_.find(generation);
    if (found == flows_.end()) return;
    Flow& flow = found->second;
    if (auto* accepted = std::get_if<Accepted>(&event)) {
        put(generation, from_engine(std::move(*accepted)));
    } else if (auto* delta = std::get_if<Delta>(&event)) {
        gather(generation, flow, std::move(*delta));
    } else if (flow.failed) {
        flow.end = wire::Failure{*std::move(flow.failed)};
    } else if (auto* done = std::get_if<Done>(&event)) {
        flow.end = from_engine(std::move(*done));
    } else {
        flow.end = wire::Failure{std::get<Error>(std::move(event))};
    }
    flush(generation);
}

void Outbox::gather(std::uint64_t generation, Flow& flow, Delta delta) {
    if (flow.is_dropped) return;
    flow.gathered_bytes += size_of(delta);
    append(flow.gathered, std::move(delta), flow.logprobs);
    flow.has_gathered = true;
    if (flow.gathered_bytes <= pending_limit_) return;
    flow.failed = Error{ErrorCode::budget_exceeded,
                        "the answer was not read: " + std::to_string(flow.gathered_bytes) +
                            " bytes were waiting; read faster or ask for less"};
    flow.is_dropped = true;
    flow.has_gathered = false;
    flow.gathered = {};
    overflowed_.push_back(generation);
    arrived_.notify_one();
}

// Sends what the credit allows, then the end.
void Outbox::flush(std::uint64_t generation) {
    Flow& flow = flows_[generation];
    if (flow.has_gathered && flow.credit > 0) {
        --flow.credit;
        const std::uint64_t next = flow.gathered.number + 1;
        put(generation, std::exchange(flow.gathered, {}));
        flow.gathered.number = next;
        flow.gathered_bytes = 0;
        flow.has_gathered = false;
    }
    if (!flow.end || flow.has_gathered) return;
    put(generation, *std::move(flow.end));
    flows_.erase(generation);
}

void Outbox::put(std::uint64_t request, wire::FromWorker message) {
    queue_.emplace_back(request, std::move(message));
    arrived_.notify_one();
}

void Outbox::write() {
    bool is_connected = true;
    while (true) {
        std::vector<std::pair<std::uint64_t, wire::FromWorker>> messages;
        std::vector<std::uint64_t> overflowed;
        {
            std::unique_lock lock(mutex_);
            arrived_.wait(
                lock, [this] { return is_closing_ || !queue_.empty() || !overflowed_.empty(); });
            messages.swap(queue_);
            overflowed.swap(overflowed_);
            if (is_closing_ && messages.empty() && overflowed.empty()) return;
        }
        for (const auto& [request, message] : messages) {
            if (is_connected) is_connected = send_(request, message);
        }
        const std::lock_guard lock(canceller_mutex_);
        for (const std::uint64_t generation : overflowed) {
            if (canceller_) canceller_(generation);
        }
    }
}

}  // namespace hearth::worker
