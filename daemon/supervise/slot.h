// The place of one model: its worker from start to end, who waits for it, and the generations in
// it. Checks that the worker keeps to the protocol. Policy (how many places, which one goes) is
// supervisor.cpp's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/supervise/supervisor.h"
#include "daemon/supervise/worker_process.h"

namespace hearth::supervise {

class Slot : private WorkerProcess::Listener {
public:
    enum class Death : std::uint8_t { loading, answering, idle };

    class Owner {
    public:
        virtual ~Owner() = default;
        virtual void on_slot_loaded(Slot& slot) = 0;
        // The worker said that it cannot load the file.
        virtual void on_slot_refused(Slot& slot, const Error& error) = 0;
        // The worker ended unasked; `how` completes "the process …".
        virtual void on_slot_died(Slot& slot, Death death, const std::string& how) = 0;
        virtual void on_slot_changed() = 0;
        virtual void on_slot_idle_too_long(Slot& slot) = 0;
        virtual void on_slot_gone(Slot& slot) = 0;  // may destroy the slot
    };

    enum class Memory { exact, cheap };  // cheap: resident bytes only

    Slot(boost::asio::io_context& io, const Config& config, ModelFile file, Owner& owner);
    ~Slot() override;

    const ModelFile& file() const { return file_; }
    State state() const { return state_; }
    bool is_idle() const {
        return state_ == State::ready && generations_.empty() && questions_.empty() && pins_ == 0;
    }
    std::chrono::steady_clock::time_point last_use() const { return last_use_; }
    const wire::ModelInfo& info() const { return ready_.model; }
    LoadedModel describe(Memory detail) const;

    // The load that is to come, or the one that runs, is by force.
    void force() { file_.force = true; }

    // Who wants the model. fail_waiters and the worker's answer empty the list.
    void add_waiter(OnLoaded done) { waiters_.push_back(std::move(done)); }
    bool has_waiters() const { return !waiters_.empty(); }
    void fail_waiters(const Error& error);
    void add_unload_waiter(OnUnloaded done) { unload_waiters_.push_back(std::move(done)); }
    std::vector<OnUnloaded> take_unload_waiters() { return std::exchange(unload_waiters_, {}); }

    // From waiting to loading. On error nothing runs.
    Result<void> start();
    // Asks the worker to end, kills it when it does not; generations get `error`.
    void stop(const Error& error);
    // After the process is gone and somebody wants the model again: from stopping to waiting, with
    // new options.
    void rest(ModelFile file);

    // While a caller was told "ready" and has not come back yet, the model must not go.
    void pin() { ++pins_; }
    void unpin();

    Result<void> submit(std::uint64_t generation, const wire::Generate& request, ReplySink& sink);
    void cancel(std::uint64_t generation);
    void grant(std::uint64_t generation, std::uint32_t deltas);
    // The answer comes once, or the error.
    void ask(const Question& question, OnTokens done);
    // False when the worker cannot be asked. `done` comes once: with the answer or the end of the
    // worker.
    bool ask_stats(std::function<void()> done);

private:
    struct Generation {
        ReplySink* sink = nullptr;  // null: cancelled, the worker's last message is still to come
        bool accepted = false;
        std::uint64_t next_delta = 0;
        std::uint64_t credit = 0;
    };

    void on_message(std::uint64_t request, wire::FromWorker message) override;
    void on_lost(const std::string& how) override;
    void on_gone() override;

    void take(std::uint64_t request, wire::Ready ready);
    void take(std::uint64_t request, wire::Failed failed);
    void take(std::uint64_t request, wire::Accepted accepted);
    void take(std::uint64_t request, wire::Delta delta);
    void take(std::uint64_t request, wire::Done done);
    void take(std::uint64_t request, wire::Failure failure);
    void take(std::uint64_t request, wire::Stats stats);
    void take(std::uint64_t request, wire::Tokens tokens);

    Generation* find(std::uint64_t generation);
    ReplySink* close(std::uint64_t generation);  // null when nobody waits any more
    void end_generations(const std::function<void(ReplySink&)>& tell);
    void fail_questions(const Error& error);
    OnTokens take_question(std::uint64_t number);  // null: no such question
    void answer_stats();
    void set_state(State state);
    void use();
    void watch_idle();
    bool is_waited_for() const;
    void watch_silence();
    void stop_watching();
    void look_for_life();
    void kill_after(std::chrono::milliseconds time, std::string why);

    boost::asio::io_context& io_;
    const Config& config_;
    ModelFile file_;
    Owner& owner_;
    State state_ = State::waiting;
    // shared_ptr: this slot and the operations that wait in the io_context (see WorkerProcess).
    std::shared_ptr<WorkerProcess> process_;
    std::vector<OnLoaded> waiters_;
    std::vector<OnUnloaded> unload_waiters_;
    std::map<std::uint64_t, Generation> generations_;
    std::map<std::uint64_t, OnTokens> questions_;
    std::uint64_t last_question_;
    std::vector<std::function<void()>> stats_waiters_;
    wire::Ready ready_;
    wire::Stats stats_;
    int pins_ = 0;
    std::string killed_because_;
    std::chrono::steady_clock::time_point last_use_;
    // shared_ptr with one owner: timers hold a weak_ptr to see whether the slot is still there.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    boost::asio::steady_timer deadline_;  // of loading and of stopping
    boost::asio::steady_timer idle_;
    boost::asio::steady_timer silence_;  // runs only while somebody waits for the worker
    bool is_watched_ = false;
    bool was_heard_ = false;  // since the watch last looked
    int silent_looks_ = 0;
};

}  // namespace hearth::supervise
