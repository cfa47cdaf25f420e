// Policy: how many models are loaded, which one makes room, who waits.
#include "daemon/supervise/supervisor.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <utility>

#include "daemon/supervise/health.h"
#include "daemon/supervise/slot.h"

namespace hearth::supervise {
namespace {

// Longest that a list waits for the numbers of busy workers.
constexpr std::chrono::milliseconds kStatsTime{200};

const Error& stopping_error() {
    static const Error error{ErrorCode::shutting_down, "the daemon is stopping"};
    return error;
}

}  // namespace

std::string_view to_string(State state) {
    switch (state) {
        case State::waiting:
            return "waiting";
        case State::loading:
            return "loading";
        case State::ready:
            return "ready";
        case State::stopping:
            return "stopping";
    }
    return "unknown";
}

// shared_from_this: handlers in the io_context hold a weak_ptr, to see whether the supervisor is
// still there.
class Supervisor::Impl : public std::enable_shared_from_this<Impl>, public Slot::Owner {
public:
    Impl(boost::asio::io_context& io, Config config)
        : io_(io),
          config_(std::move(config)),
          health_(config_.death_window, config_.quarantined, config_.on_quarantine) {}

    void ensure_loaded(const ModelFile& file, OnLoaded done);
    void ask(const ModelFile& file, Question question, OnTokens done);
    void unload(const std::string& id, OnUnloaded done);
    void list(OnList done, Slot::Memory memory);
    std::vector<LoadedModel> describe(Slot::Memory memory) const;
    void stop(std::function<void()> done);
    Health& health() { return health_; }

    Slot* find(const std::string& id) {
        const auto found = slots_.find(id);
        return found == slots_.end() ? nullptr : found->second.get();
    }

private:
    // One list() that waits for workers; owned by the callbacks it handed out.
    struct Listing {
        explicit Listing(boost::asio::io_context& io) : timer(io) {}
        boost::asio::steady_timer timer;
        int missing = 0;
        OnList done;
        Slot::Memory memory = Slot::Memory::exact;
    };

    void on_slot_changed() override;
    void on_slot_loaded(Slot& slot) override;
    void on_slot_refused(Slot& slot, const Error& error) override;
    void on_slot_died(Slot& slot, Slot::Death death, const std::string& how) override;
    void on_slot_idle_too_long(Slot& slot) override;
    void on_slot_gone(Slot& slot) override;

    std::optional<Error> refusal(const ModelFile& file, const Slot* slot);
    void answer_ready(Slot& slot, OnLoaded done);
    void start_waiting();
    bool make_room(int waiting);
    std::vector<Slot*> waiting_slots();
    void refuse(Slot& slot, const Error& error);
    void finish(Listing& listing);
    void finish_stop();

    boost::asio::io_context& io_;
    Config config_;
    Health health_;
    std::map<std::string, std::unique_ptr<Slot>> slots_;
    std::vector<std::string> arrivals_;  // ids of waiting slots, first come first
    bool is_stopping_ = false;
    std::vector<std::function<void()>> stop_waiters_;
};

void Supervisor::Impl::ensure_loaded(const ModelFile& file, OnLoaded done) {
    Slot* slot = find(file.id);
    if (auto error = refusal(file, slot)) {
        boost::asio::post(io_,
                          [done = std::move(done), error = *std::move(error)] { done(error); });
        return;
    }
    if (slot != nullptr && slot->state() == State::ready) {
        if (file.force) health_.forget(file.id);
        answer_ready(*slot, std::move(done));
        return;
    }
    if (slot == nullptr) {
        slot = slots_.emplace(file.id, std::make_unique<Slot>(io_, config_, file, *this))
                   .first->second.get();
        arrivals_.push_back(file.id);
        on_slot_changed();
    }
    if (file.force) slot->force();
    slot->add_waiter(std::move(done));
    // Later, because a start can fail at once and callbacks never come from inside this call.
    boost::asio::post(io_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->start_waiting();
    });
}

std::optional<Error> Supervisor::Impl::refusal(const ModelFile& file, const Slot* slot) {
    if (is_stopping_) return stopping_error();
    // A load that runs is shared, whoever asked for it.
    const bool would_start =
        slot == nullptr || (slot->state() != State::ready && slot->state() != State::loading);
    if (!would_start || file.force) return std::nullopt;
    return health_.refusal(file.id, stamp_of(file.path), std::chrono::steady_clock::now());
}

void Supervisor::Impl::on_slot_loaded(Slot& slot) {
    if (slot.file().force) health_.forget(slot.file().id);
}

void Supervisor::Impl::on_slot_refused(Slot& slot, const Error& error) {
    health_.refused(slot.file().id, stamp_of(slot.file().path), error);
}

void Supervisor::Impl::on_slot_died(Slot& slot, Slot::Death death, const std::string& how) {
    const auto now = std::chrono::steady_clock::now();
    if (death == Slot::Death::loading) health_.died_loading(slot.file().id, how, now);
    if (death == Slot::Death::answering) health_.died_answering(slot.file().id, now);
}

void Supervisor::Impl::answer_ready(Slot& slot, OnLoaded done) {
    slot.pin();
    boost::asio::post(io_, [weak = weak_from_this(), id = slot.file().id, done = std::move(done)] {
        const auto self = weak.lock();
        if (!self) return;
        Slot* ready = self->find(id);
        if (ready == nullptr || ready->state() != State::ready) {
            done(Error{ErrorCode::worker_died, "the model " + id + " is not loaded any more"});
        } else {
            done(ready->info());
        }
        // Looked up again: what `done` did may have ended the slot. A slot that came back has no
        // pins of ours.
        if (Slot* after = self->find(id); after != nullptr && after == ready) after->unpin();
    });
}

void Supervisor::Impl::ask(const ModelFile& file, Question question, OnTokens done) {
    ensure_loaded(file, [weak = weak_from_this(), id = file.id, question = std::move(question),
                         done = std::move(done)](const Result<wire::ModelInfo>& loaded) {
        if (!loaded) return done(loaded.error());
        const auto self = weak.lock();
        Slot* slot = self ? self->find(id) : nullptr;
        if (slot != nullptr) return slot->ask(question, done);
        done(Error{ErrorCode::worker_died, "the model " + id + " is not loaded any more"});
    });
}

void Supervisor::Impl::unload(const std::string& id, OnUnloaded done) {
    Slot* slot = find(id);
    if (slot == nullptr) {
        boost::asio::post(io_, [id, done = std::move(done)] {
            done(Error{ErrorCode::not_found, "the model " + id + " is not loaded"});
        });
        return;
    }
    const Error error{ErrorCode::shutting_down, "the model " + id + " was unloaded"};
    slot->add_unload_waiter(std::move(done));
    if (slot->state() == State::waiting) {
        boost::asio::post(io_, [weak = weak_from_this(), id, error] {
            const auto self = weak.lock();
            Slot* waiting = self ? self->find(id) : nullptr;
            if (waiting == nullptr) return;
            if (waiting->state() == State::waiting) {
                self->refuse(*waiting, error);
            } else {
                waiting->stop(error);
            }
        });
    } else {
        slot->stop(error);
    }
}

void Supervisor::Impl::list(OnList done, Slot::Memory memory) {
    // shared_ptr: owned by the timer's handler and by every worker that was asked.
    auto listing = std::make_shared<Listing>(io_);
    listing->done = std::move(done);
    listing->memory = memory;
    const auto finish_later = [weak = weak_from_this(), listing] {
        if (const auto self = weak.lock()) self->finish(*listing);
    };
    for (const auto& [id, slot] : slots_) {
        const bool asked = slot->ask_stats([listing, finish_later] {
            if (--listing->missing == 0) finish_later();
        });
        if (asked) ++listing->missing;
    }
    if (listing->missing == 0) {
        boost::asio::post(io_, finish_later);
        return;
    }
    listing->timer.expires_after(kStatsTime);
    listing->timer.async_wait([finish_later](boost::system::error_code failed) {
        if (!failed) finish_later();
    });
}

void Supervisor::Impl::finish(Listing& listing) {
    OnList done = std::exchange(listing.done, nullptr);
    listing.timer.cancel();
    if (!done) return;
    done(describe(listing.memory));
}

std::vector<LoadedModel> Supervisor::Impl::describe(Slot::Memory memory) const {
    std::vector<LoadedModel> models;
    for (const auto& [id, slot] : slots_) models.push_back(slot->describe(memory));
    return models;
}

void Supervisor::Impl::stop(std::function<void()> done) {
    is_stopping_ = true;
    stop_waiters_.push_back(std::move(done));
    boost::asio::post(io_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        for (Slot* slot : self->waiting_slots()) self->refuse(*slot, stopping_error());
        std::vector<std::string> ids;
        for (const auto& [id, slot] : self->slots_) ids.push_back(id);
        for (const std::string& id : ids) {
            Slot* slot = self->find(id);
            if (slot == nullptr) continue;
            slot->stop(stopping_error());
            slot->fail_waiters(stopping_error());
        }
        self->finish_stop();
    });
}

void Supervisor::Impl::finish_stop() {
    if (!is_stopping_ || !slots_.empty()) return;
    for (auto& done : std::exchange(stop_waiters_, {})) done();
}

void Supervisor::Impl::on_slot_changed() {
    if (config_.on_change) config_.on_change();
}

void Supervisor::Impl::on_slot_idle_too_long(Slot& slot) {
    slot.stop(Error{ErrorCode::shutting_down, "the model was unloaded after a time without use"});
}

void Supervisor::Impl::on_slot_gone(Slot& slot) {
    const std::string id = slot.file().id;
    std::vector<OnUnloaded> unload_waiters = slot.take_unload_waiters();
    if (slot.has_waiters() && !is_stopping_) {
        slot.rest(slot.file());
        arrivals_.push_back(id);
    } else {
        slot.fail_waiters(stopping_error());
        slots_.erase(id);
        on_slot_changed();
    }
    for (OnUnloaded& done : unload_waiters) done({});
    start_waiting();
    finish_stop();
}

std::vector<Slot*> Supervisor::Impl::waiting_slots() {
    std::vector<Slot*> waiting;
    for (const std::string& id : arrivals_) {
        Slot* slot = find(id);
        if (slot != nullptr && slot->state() == State::waiting) waiting.push_back(slot);
    }
    return waiting;
}

void Supervisor::Impl::start_waiting() {
    while (!is_stopping_) {
        const std::vector<Slot*> waiting = waiting_slots();
        if (waiting.empty()) break;
        const auto taken = std::ranges::count_if(
            slots_, [](const auto& entry) { return entry.second->state() != State::waiting; });
        Slot& first = *waiting.front();
        if (taken < config_.max_loaded) {
            if (const auto started = first.start(); !started) refuse(first, started.error());
            continue;
        }
        if (make_room(static_cast<int>(waiting.size()))) break;
        refuse(*waiting.back(),
               {ErrorCode::busy, "all " + std::to_string(config_.max_loaded) +
                                     " places for loaded models are taken by models that work; try "
                                     "again later or unload one"});
    }
    std::erase_if(arrivals_, [&](const std::string& id) {
        const Slot* slot = find(id);
        return slot == nullptr || slot->state() != State::waiting;
    });
}

// True when places for all that wait are free or become free.
bool Supervisor::Impl::make_room(int waiting) {
    auto leaving = std::ranges::count_if(
        slots_, [](const auto& entry) { return entry.second->state() == State::stopping; });
    while (leaving < waiting) {
        Slot* oldest = nullptr;
        for (const auto& [id, slot] : slots_) {
            if (!slot->is_idle()) continue;
            if (oldest == nullptr || slot->last_use() < oldest->last_use()) oldest = slot.get();
        }
        if (oldest == nullptr) return false;
        oldest->stop({ErrorCode::shutting_down, "the model was unloaded to make room"});
        ++leaving;
    }
    return true;
}

void Supervisor::Impl::refuse(Slot& slot, const Error& error) {
    // The slot goes first, so that a callback that asks again gets a new one.
    const auto node = slots_.extract(slot.file().id);
    std::erase(arrivals_, node.key());
    std::vector<OnUnloaded> unload_waiters = node.mapped()->take_unload_waiters();
    on_slot_changed();
    node.mapped()->fail_waiters(error);
    for (OnUnloaded& done : unload_waiters) done({});
}

Supervisor::Supervisor(boost::asio::io_context& io, Config config)
    : impl_(std::make_shared<Impl>(io, std::move(config))) {}
Supervisor::~Supervisor() = default;

void Supervisor::ensure_loaded(const ModelFile& file, OnLoaded done) {
    impl_->ensure_loaded(file, std::move(done));
}

void Supervisor::ask(const ModelFile& file, Question question, OnTokens done) {
    impl_->ask(file, std::move(question), std::move(done));
}

void Supervisor::unload(const std::string& id, OnUnloaded done) {
    impl_->unload(id, std::move(done));
}

void Supervisor::list(OnList done) { impl_->list(std::move(done), Slot::Memory::exact); }

void Supervisor::poll(OnList done) { impl_->list(std::move(done), Slot::Memory::cheap); }

std::vector<LoadedModel> Supervisor::glance() const { return impl_->describe(Slot::Memory::cheap); }

bool Supervisor::is_loaded(const std::string& id) const {
    const Slot* slot = impl_->find(id);
    return slot != nullptr && slot->state() == State::ready;
}

const std::map<std::string, std::string>& Supervisor::quarantined() const {
    return impl_->health().quarantined();
}

void Supervisor::forget(const std::string& id) { impl_->health().forget(id); }

Result<void> Supervisor::submit(const std::string& id, std::uint64_t generation,
                                const wire::Generate& request, ReplySink& sink) {
    if (Slot* slot = impl_->find(id)) return slot->submit(generation, request, sink);
    return Error{ErrorCode::worker_died, "the model " + id + " is not loaded any more"};
}

void Supervisor::cancel(const std::string& id, std::uint64_t generation) {
    if (Slot* slot = impl_->find(id)) slot->cancel(generation);
}

void Supervisor::grant(const std::string& id, std::uint64_t generation, std::uint32_t deltas) {
    if (Slot* slot = impl_->find(id)) slot->grant(generation, deltas);
}

void Supervisor::stop(std::function<void()> done) { impl_->stop(std::move(done)); }

}  // namespace hearth::supervise
