// Every client request in flight. A generation is owned here and not by the HTTP session, which
// only subscribes: it loads the model when needed, hands the request to the worker, numbers and
// passes on what comes back. When the worker dies, the next one goes on after the last token that
// came: the subscriber sees nothing of it.
//
// Runs on the thread of the io_context ("hearth-net"), like everything it calls and everything that
// calls it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/supervise/supervisor.h"
#include "engine/base/error.h"
#include "ipc/worker/messages.h"

namespace hearth::generate {

// What is over a limit is busy, at once.
struct Config {
    int max_generations = 256;                  // in flight
    int max_per_model = 128;                    // in flight in one model, running or waiting
    std::size_t max_prompt_bytes = 64U << 20U;  // of all in flight; one alone may be larger
    std::uint32_t window = 64;                  // deltas in flight per generation
};

struct Order {
    supervise::ModelFile model;
    wire::Generate request;             // without a seed one is drawn; `credit` is set here
    std::size_t prompt_bytes = 0;       // about what it takes in memory
    std::chrono::milliseconds time{0};  // from start() to the end, then timed_out; 0: no limit
};

struct Accepted {
    std::uint64_t seed = 0;  // given or drawn; a drawn one is below 2^53, as JSON readers want it
    std::vector<std::int32_t> prompt_ids;
    wire::ModelInfo model;
};

// Calls come in this order: on_accepted, any number of on_delta, then on_done; or on_error at any
// point, last. Never from inside start() or cancel(); the subscriber must live until the last call
// or until it cancels.
class Subscriber {
public:
    virtual ~Subscriber() = default;
    virtual void on_accepted(Accepted accepted) = 0;
    virtual void on_delta(wire::Delta delta) = 0;  // numbers 0, 1, 2, … without gaps
    // queue_ms counts from start(), loading included. The times of a generation that outlived a
    // worker are those that the subscriber saw.
    virtual void on_done(wire::Done done) = 0;
    virtual void on_error(Error error) = 0;
};

// Watches every generation; for counters. Per generation: on_started, on_accepted at most once,
// any number of on_tokens, then on_done or on_failed, before the subscriber hears of it. A
// generation that its client cancelled has failed with ErrorCode::cancelled.
class Observer {
public:
    virtual ~Observer() = default;
    virtual void on_started(std::uint64_t generation, const Order& order) = 0;
    virtual void on_accepted(std::uint64_t generation, std::size_t prompt_tokens) = 0;
    virtual void on_tokens(std::uint64_t generation, std::size_t tokens) = 0;
    virtual void on_done(std::uint64_t generation, const wire::Done& done) = 0;
    virtual void on_failed(std::uint64_t generation, const Error& error) = 0;
};

class Generations {
public:
    Generations(boost::asio::io_context& io, supervise::Supervisor& supervisor, Config config = {});
    ~Generations();
    Generations(const Generations&) = delete;
    Generations& operator=(const Generations&) = delete;

    // Null: nobody watches any more.
    void set_observer(Observer* observer);
    // The generation's number, for consumed() and cancel().
    std::uint64_t start(Order order, Subscriber& subscriber);
    // So many deltas have left for the client. Without it a generation rests after `window` deltas:
    // a client that reads slowly holds up itself only. Unknown numbers are ignored.
    void consumed(std::uint64_t generation, std::uint32_t deltas);
    // The subscriber gets no more calls and may go; the worker stops within a step. Unknown numbers
    // are ignored.
    void cancel(std::uint64_t generation);
    int in_flight() const;
    // Every subscriber gets shutting_down; later starts too.
    void stop();

    static std::uint64_t draw_seed();

private:
    class Impl;
    // shared_ptr: only this object owns it; handlers in the io_context hold weak_ptrs.
    std::shared_ptr<Impl> impl_;
};

}  // namespace hearth::generate
