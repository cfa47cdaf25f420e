// Callbacks may call back into the supervisor; so state is settled before each of them, and lists
// are taken out first.
#include "daemon/supervise/slot.h"

#include <utility>

#include "daemon/supervise/inspect.h"
#include "daemon/supervise/proc_memory.h"

namespace hearth::supervise {

using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

// Far from the numbers of generations, which count from 1.
constexpr std::uint64_t kFirstQuestion = 1ULL << 63U;
constexpr std::size_t kMaxQuestions = 64;
// Looks, not time, are counted: when the whole machine or this process slept, one look passes and
// nobody is blamed.
constexpr int kSilentLooks = 3;

}  // namespace

Slot::Slot(boost::asio::io_context& io, const Config& config, ModelFile file, Owner& owner)
    : io_(io),
      config_(config),
      file_(std::move(file)),
      owner_(owner),
      last_question_(kFirstQuestion),
      last_use_(Clock::now()),
      deadline_(io),
      idle_(io),
      silence_(io) {}

Slot::~Slot() {
    if (process_) process_->forget();
}

LoadedModel Slot::describe(Memory detail) const {
    LoadedModel model;
    model.id = file_.id;
    model.path = file_.path;
    model.state = state_;
    model.info = ready_.model;
    model.sandbox = ready_.sandbox;
    model.load_ms = ready_.load_ms;
    model.generations = static_cast<int>(generations_.size());
    model.unused = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - last_use_);
    model.stats = stats_;
    if (process_) {
        const ProcessMemory memory = detail == Memory::exact
                                         ? memory_of(process_->pid())
                                         : ProcessMemory{resident_bytes_of(process_->pid()), 0};
        model.pid = process_->pid();
        model.resident_bytes = memory.resident_bytes;
        model.private_bytes = memory.private_bytes;
    }
    return model;
}

void Slot::fail_waiters(const Error& error) {
    for (OnLoaded& done : std::exchange(waiters_, {})) done(error);
}

Result<void> Slot::start() {
    HEARTH_TRY(const Descriptor model, open_regular(file_.path));
    WorkerProcess::Order order{
        .program = worker_program(config_.worker_path), .model = model.get(), .on_line = nullptr};
    if (config_.on_worker_line) {
        order.on_line = [give = config_.on_worker_line, id = file_.id](std::string_view line) {
            give(id, line);
        };
    }
    HEARTH_TRY(process_, WorkerProcess::start(io_, std::move(order), *this));
    wire::Load load = file_.options;
    load.name = file_.id;
    if (auto sent = process_->send(0, load); !sent) {
        process_->forget();
        process_.reset();
        return sent;
    }
    kill_after(config_.load_time, "it took too long to load");
    set_state(State::loading);
    watch_silence();
    return {};
}

void Slot::stop(const Error& error) {
    if (state_ == State::stopping || !process_) return;
    file_.force = false;
    idle_.cancel();
    stop_watching();
    // While it loads there is nothing to finish, and it may not read its messages for a while.
    if (state_ == State::loading) {
        process_->kill();
    } else {
        process_->shut_down();
    }
    kill_after(config_.stop_time, "it did not end when asked to");
    set_state(State::stopping);
    fail_waiters(error);
    end_generations([&error](ReplySink& sink) { sink.on_failed(error); });
    fail_questions(error);
}

void Slot::rest(ModelFile file) {
    file_ = std::move(file);
    ready_ = {};
    stats_ = {};
    killed_because_.clear();
    set_state(State::waiting);
}

void Slot::unpin() {
    --pins_;
    use();
}

Result<void> Slot::submit(std::uint64_t generation, const wire::Generate& request,
                          ReplySink& sink) {
    if (state_ != State::ready) {
        return Error{ErrorCode::worker_died, "the model " + file_.id + " is not loaded any more"};
    }
    if (generations_.contains(generation)) {
        return Error{ErrorCode::internal, "a generation was submitted twice"};
    }
    HEARTH_TRY_VOID(process_->send(generation, request));
    generations_[generation] = {.sink = &sink, .credit = request.credit};
    use();
    watch_silence();
    return {};
}

void Slot::cancel(std::uint64_t generation) {
    Generation* found = find(generation);
    if (found == nullptr || found->sink == nullptr) return;
    found->sink = nullptr;
    // A worker that takes no more frames cannot be stopped in any other way.
    if (!process_->send(generation, wire::Cancel{})) process_->condemn("does not read any more");
}

void Slot::grant(std::uint64_t generation, std::uint32_t deltas) {
    Generation* found = find(generation);
    if (found == nullptr || found->sink == nullptr) return;
    found->credit += deltas;
    if (!process_->send(generation, wire::Credit{deltas})) {
        process_->condemn("does not read any more");
    }
}

void Slot::ask(const Question& question, OnTokens done) {
    if (state_ != State::ready)
        return done(
            Error{ErrorCode::worker_died, "the model " + file_.id + " is not loaded any more"});
    if (questions_.size() >= kMaxQuestions)
        return done(Error{ErrorCode::busy, std::to_string(questions_.size()) +
                                               " questions to the model " + file_.id +
                                               " wait already; try again later"});
    const std::uint64_t number = ++last_question_;
    const auto message =
        std::visit([](const auto& kind) { return wire::ToWorker(kind); }, question);
    if (const auto sent = process_->send(number, message); !sent) return done(sent.error());
    questions_[number] = std::move(done);
    use();
    watch_silence();
}

bool Slot::ask_stats(std::function<void()> done) {
    if (state_ != State::ready) return false;
    // One question at a time: whoever comes later shares the answer.
    if (stats_waiters_.empty() && !process_->send(0, wire::StatsRequest{})) return false;
    stats_waiters_.push_back(std::move(done));
    return true;
}

void Slot::on_message(std::uint64_t request, wire::FromWorker message) {
    was_heard_ = true;
    std::visit([&](auto& m) { take(request, std::move(m)); }, message);
}

void Slot::take(std::uint64_t request, wire::Ready ready) {
    if (state_ == State::stopping) return;
    if (state_ != State::loading || request != 0)
        return process_->condemn("said twice it is ready");
    deadline_.cancel();
    ready_ = std::move(ready);
    set_state(State::ready);
    owner_.on_slot_loaded(*this);
    file_.force = false;
    pin();
    for (OnLoaded& done : std::exchange(waiters_, {})) done(ready_.model);
    unpin();
}

void Slot::take(std::uint64_t, wire::Failed failed) {
    if (state_ == State::stopping) return;
    if (state_ != State::loading) return process_->condemn("failed to load after it was ready");
    owner_.on_slot_refused(*this, failed.error);
    stop(failed.error);
}

void Slot::take(std::uint64_t request, wire::Accepted accepted) {
    Generation* generation = find(request);
    if (generation == nullptr || generation->accepted ||
        std::cmp_not_equal(accepted.prompt_tokens, accepted.prompt_ids.size())) {
        if (state_ != State::stopping) process_->condemn("accepted what it was not asked");
        return;
    }
    generation->accepted = true;
    if (generation->sink != nullptr) generation->sink->on_accepted(std::move(accepted));
}

void Slot::take(std::uint64_t request, wire::Delta delta) {
    Generation* generation = find(request);
    const bool fits = generation != nullptr && generation->accepted && generation->credit > 0 &&
                      delta.number == generation->next_delta &&
                      (delta.logprobs.empty() || delta.logprobs.size() == delta.ids.size());
    if (!fits) {
        if (state_ != State::stopping) process_->condemn("sent a delta out of turn");
        return;
    }
    --generation->credit;
    ++generation->next_delta;
    if (generation->sink != nullptr) generation->sink->on_delta(std::move(delta));
}

void Slot::take(std::uint64_t request, wire::Done done) {
    const Generation* generation = find(request);
    const bool fits =
        generation != nullptr && (generation->accepted || generation->sink == nullptr);
    if (!fits) {
        if (state_ != State::stopping) process_->condemn("ended what it had not begun");
        return;
    }
    if (ReplySink* sink = close(request)) sink->on_done(std::move(done));
}

void Slot::take(std::uint64_t request, wire::Failure failure) {
    if (const OnTokens done = take_question(request)) return done(std::move(failure.error));
    if (find(request) == nullptr) {
        if (state_ != State::stopping) process_->condemn("ended what it had not begun");
        return;
    }
    if (ReplySink* sink = close(request)) sink->on_failed(std::move(failure.error));
}

void Slot::take(std::uint64_t, wire::Stats stats) {
    stats_ = stats;
    answer_stats();
}

void Slot::take(std::uint64_t request, wire::Tokens tokens) {
    const OnTokens done = take_question(request);
    const bool fits = tokens.pieces.empty() || tokens.pieces.size() == tokens.ids.size();
    if (done && fits) return done(std::move(tokens));
    if (done) done(Error{ErrorCode::internal, "the answer of the model's process is malformed"});
    if (state_ != State::stopping) process_->condemn("answered what it was not asked");
}

void Slot::on_lost(const std::string& how) {
    Error error{ErrorCode::worker_died, "the process that held the model " + file_.id + " " + how +
                                            "; the next request starts it again"};
    if (!killed_because_.empty()) {
        error = {ErrorCode::timed_out,
                 "the process that held the model " + file_.id + " was ended: " + killed_because_};
    }
    idle_.cancel();
    stop_watching();
    answer_stats();
    if (state_ == State::stopping) return;  // waiters of this state want the next process
    if (config_.on_worker_line) config_.on_worker_line(file_.id, error.message);
    const Death death = state_ == State::loading ? Death::loading
                        : is_waited_for()        ? Death::answering
                                                 : Death::idle;
    kill_after(config_.stop_time, "it did not end");
    file_.force = false;
    set_state(State::stopping);
    owner_.on_slot_died(*this, death,
                        killed_because_.empty() ? how : "was ended: " + killed_because_);
    fail_waiters(error);
    end_generations([&error](ReplySink& sink) { sink.on_lost(error); });
    fail_questions(error);
}

void Slot::on_gone() {
    deadline_.cancel();
    process_.reset();
    generations_.clear();
    owner_.on_slot_gone(*this);
}

Slot::Generation* Slot::find(std::uint64_t generation) {
    const auto found = generations_.find(generation);
    return found == generations_.end() ? nullptr : &found->second;
}

ReplySink* Slot::close(std::uint64_t generation) {
    const auto found = generations_.find(generation);
    ReplySink* sink = found->second.sink;
    generations_.erase(found);
    use();
    return sink;
}

// One by one: what a sink does may cancel the others, whose sinks are gone then.
void Slot::end_generations(const std::function<void(ReplySink&)>& tell) {
    while (!generations_.empty()) {
        const auto node = generations_.extract(generations_.begin());
        if (node.mapped().sink != nullptr) tell(*node.mapped().sink);
    }
}

void Slot::fail_questions(const Error& error) {
    for (auto& [number, done] : std::exchange(questions_, {})) done(error);
}

OnTokens Slot::take_question(std::uint64_t number) {
    auto node = questions_.extract(number);
    if (node.empty()) return nullptr;
    use();
    return std::move(node.mapped());
}

void Slot::answer_stats() {
    for (auto& done : std::exchange(stats_waiters_, {})) done();
}

void Slot::set_state(State state) {
    state_ = state;
    owner_.on_slot_changed();
}

void Slot::use() {
    last_use_ = Clock::now();
    watch_idle();
    if (!is_waited_for()) stop_watching();
}

void Slot::watch_idle() {
    if (config_.idle_time.count() == 0 || !is_idle()) {
        idle_.cancel();
        return;
    }
    idle_.expires_after(config_.idle_time);
    // A timer that has fired already may run its handler after the slot is gone.
    idle_.async_wait([this, alive = std::weak_ptr(alive_)](error_code failed) {
        if (failed || alive.expired()) return;
        if (is_idle() && Clock::now() - last_use_ >= config_.idle_time)
            owner_.on_slot_idle_too_long(*this);
    });
}

bool Slot::is_waited_for() const {
    if (state_ == State::loading) return true;
    return state_ == State::ready && !(generations_.empty() && questions_.empty());
}

void Slot::watch_silence() {
    if (std::exchange(is_watched_, true)) return;
    was_heard_ = false;
    silent_looks_ = 0;
    look_for_life();
}

void Slot::stop_watching() {
    is_watched_ = false;
    silence_.cancel();
}

void Slot::look_for_life() {
    silence_.expires_after(config_.silence_time / kSilentLooks);
    silence_.async_wait([this, alive = std::weak_ptr(alive_)](error_code failed) {
        if (failed || alive.expired() || !is_watched_) return;
        silent_looks_ = std::exchange(was_heard_, false) ? 0 : silent_looks_ + 1;
        if (silent_looks_ == kSilentLooks) {
            stop_watching();
            const auto seconds =
                std::chrono::ceil<std::chrono::seconds>(config_.silence_time).count();
            killed_because_ =
                "it said nothing for " + std::to_string(seconds) + " s while work waited for it";
            return process_->kill();
        }
        // Its reading thread answers, whatever its engine computes.
        if (silent_looks_ > 0 && !process_->send(0, wire::StatsRequest{}))
            process_->condemn("does not read any more");
        look_for_life();
    });
}

void Slot::kill_after(std::chrono::milliseconds time, std::string why) {
    deadline_.expires_after(time);
    deadline_.async_wait([this, alive = std::weak_ptr(alive_), process = process_.get(),
                          why = std::move(why)](error_code failed) {
        if (failed || alive.expired() || process != process_.get()) return;
        killed_because_ = why;
        process_->kill();
    });
}

}  // namespace hearth::supervise
