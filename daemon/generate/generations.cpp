// From start() to the last call of the subscriber. A subscriber may call back at any time, so a
// generation leaves the table before its last call.
#include "daemon/generate/generations.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "engine/base/log.h"

namespace hearth::generate {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// A generation that saw so many workers die may be what kills them.
constexpr int kMaxDeaths = 2;

const Error& stopping_error() {
    static const Error error{ErrorCode::shutting_down, "the daemon is stopping"};
    return error;
}

std::string mebibytes(std::size_t bytes) {
    return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB";
}

}  // namespace

class Generations::Impl : public std::enable_shared_from_this<Impl> {
public:
    Impl(boost::asio::io_context& io, supervise::Supervisor& supervisor, Config config)
        : io_(io), supervisor_(supervisor), config_(config) {}

    ~Impl() {
        for (const auto& [number, generation] : table_) withdraw(*generation);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void set_observer(Observer* observer) { observer_ = observer; }
    std::uint64_t start(Order order, Subscriber& subscriber);
    void consumed(std::uint64_t number, std::uint32_t deltas);
    void cancel(std::uint64_t number);
    int in_flight() const { return static_cast<int>(table_.size()); }
    void stop();

private:
    // One generation, and the worker's way back to it.
    class Generation : public supervise::ReplySink {
    public:
        Generation(Impl& impl, std::uint64_t number, Order order, Subscriber& subscriber)
            : impl_(impl), number_(number), order_(std::move(order)), subscriber_(subscriber) {}

        void on_accepted(wire::Accepted accepted) override;
        void on_delta(wire::Delta delta) override;
        void on_done(wire::Done done) override;
        void on_failed(Error error) override;
        void on_lost(Error error) override;

    private:
        friend class Impl;
        Impl& impl_;
        std::uint64_t number_;
        Order order_;  // what it takes to go on in another worker
        Subscriber& subscriber_;
        wire::ModelInfo model_;
        std::optional<boost::asio::steady_timer> deadline_;
        Clock::time_point started_ = Clock::now();
        Clock::time_point submitted_;    // for the first time
        Clock::time_point first_token_;  // that came
        bool is_refused_ = false;        // waits for its on_error only
        bool is_submitted_ = false;
        bool is_accepted_ = false;
        int deaths_ = 0;            // of workers
        std::uint64_t deltas_ = 0;  // passed on
        std::uint32_t unread_ = 0;  // of these, not consumed
        std::int32_t tokens_ = 0;   // passed on
    };
    using Handle = std::unique_ptr<Generation>;

    std::optional<Error> refusal(const Order& order) const;
    void load(const Generation& generation);
    void on_loaded(std::uint64_t number, Result<wire::ModelInfo> model);
    void limit_time(Generation& generation);
    void go_on(std::uint64_t number, Error error);
    void fail_later(std::uint64_t number, Error error);
    void fail(std::uint64_t number, Error error);
    void withdraw(const Generation& generation);
    Generation* find(std::uint64_t number);
    Handle take(std::uint64_t number);

    boost::asio::io_context& io_;
    supervise::Supervisor& supervisor_;
    Config config_;
    std::map<std::uint64_t, Handle> table_;
    std::uint64_t last_number_ = 0;
    bool is_stopping_ = false;
    Observer* observer_ = nullptr;
};

void Generations::Impl::Generation::on_accepted(wire::Accepted accepted) {
    // Ids in place of the text: smaller, and another worker reads exactly the same.
    order_.request.prompt = wire::IdsPrompt{accepted.prompt_ids};
    if (std::exchange(is_accepted_, true)) return;
    if (impl_.observer_ != nullptr)
        impl_.observer_->on_accepted(number_, accepted.prompt_ids.size());
    subscriber_.on_accepted({.seed = order_.request.sampling.seed.value_or(0),
                             .prompt_ids = std::move(accepted.prompt_ids),
                             .model = model_});
}

void Generations::Impl::Generation::on_delta(wire::Delta delta) {
    delta.number = deltas_++;
    ++unread_;
    if (tokens_ == 0) first_token_ = Clock::now();
    tokens_ += static_cast<std::int32_t>(delta.ids.size());
    std::vector<std::int32_t>& generated = order_.request.generated;
    generated.insert(generated.end(), delta.ids.begin(), delta.ids.end());
    if (impl_.observer_ != nullptr) impl_.observer_->on_tokens(number_, delta.ids.size());
    subscriber_.on_delta(std::move(delta));
}

void Generations::Impl::Generation::on_done(wire::Done done) {
    const Handle self = impl_.take(number_);
    done.timings.queue_ms += Milliseconds(submitted_ - started_).count();
    if (deaths_ > 0 && tokens_ > 0) {
        done.timings.generated_tokens = tokens_;
        done.timings.queue_ms = Milliseconds(submitted_ - started_).count();
        done.timings.prompt_ms = Milliseconds(first_token_ - submitted_).count();
        done.timings.generation_ms = Milliseconds(Clock::now() - first_token_).count();
    }
    if (impl_.observer_ != nullptr) impl_.observer_->on_done(number_, done);
    subscriber_.on_done(std::move(done));
}

void Generations::Impl::Generation::on_failed(Error error) {
    impl_.fail(number_, std::move(error));
}

void Generations::Impl::Generation::on_lost(Error error) { impl_.go_on(number_, std::move(error)); }

std::optional<Error> Generations::Impl::refusal(const Order& order) const {
    if (is_stopping_) return stopping_error();
    int all = 0;
    int of_model = 0;
    std::size_t bytes = 0;
    for (const auto& [number, other] : table_) {
        if (other->is_refused_) continue;
        ++all;
        if (other->order_.model.id == order.model.id) ++of_model;
        bytes += other->order_.prompt_bytes;
    }
    const auto busy = [](const std::string& what) {
        return Error{ErrorCode::busy, what + "; try again later"};
    };
    if (all >= config_.max_generations)
        return busy(std::to_string(all) + " generations are in flight already");
    if (of_model >= config_.max_per_model)
        return busy("the model " + order.model.id + " has " + std::to_string(of_model) +
                    " generations running or waiting, and takes " +
                    std::to_string(config_.max_per_model));
    if (all > 0 && bytes + order.prompt_bytes > config_.max_prompt_bytes)
        return busy("the prompts in flight have " + mebibytes(bytes) + ", and this one of " +
                    mebibytes(order.prompt_bytes) + " would exceed the " +
                    mebibytes(config_.max_prompt_bytes) + " allowed");
    return std::nullopt;
}

std::uint64_t Generations::Impl::start(Order order, Subscriber& subscriber) {
    const std::uint64_t number = ++last_number_;
    auto refused = refusal(order);
    if (!order.request.sampling.seed) order.request.sampling.seed = draw_seed();
    Generation& generation = *table_
                                  .emplace(number, std::make_unique<Generation>(
                                                       *this, number, std::move(order), subscriber))
                                  .first->second;
    if (observer_ != nullptr) observer_->on_started(number, generation.order_);
    if (refused) {
        generation.is_refused_ = true;
        fail_later(number, *std::move(refused));
        return number;
    }
    limit_time(generation);
    load(generation);
    return number;
}

void Generations::Impl::load(const Generation& generation) {
    supervisor_.ensure_loaded(generation.order_.model,
                              [weak = weak_from_this(), number = generation.number_](auto result) {
                                  if (const auto self = weak.lock())
                                      self->on_loaded(number, std::move(result));
                              });
}

void Generations::Impl::on_loaded(std::uint64_t number, Result<wire::ModelInfo> model) {
    Generation* generation = find(number);
    if (generation == nullptr) return;  // cancelled while the model was loading
    if (!model) return fail(number, std::move(model).error());
    wire::Generate& request = generation->order_.request;
    if (generation->deaths_ == 0) {
        generation->model_ = *std::move(model);
        generation->submitted_ = Clock::now();
    }
    // What the subscriber has not consumed still counts as in flight.
    request.credit = config_.window - std::min(config_.window, generation->unread_);
    const auto submitted =
        supervisor_.submit(generation->order_.model.id, number, request, *generation);
    if (!submitted) return fail(number, submitted.error());
    generation->is_submitted_ = true;
}

void Generations::Impl::limit_time(Generation& generation) {
    const auto time = generation.order_.time;
    if (time.count() <= 0) return;
    generation.deadline_.emplace(io_, time);
    generation.deadline_->async_wait([weak = weak_from_this(), number = generation.number_,
                                      time](const boost::system::error_code& failed) {
        const auto self = weak.lock();
        const Generation* late = !failed && self ? self->find(number) : nullptr;
        if (late == nullptr) return;
        self->withdraw(*late);
        self->fail(number,
                   {ErrorCode::timed_out,
                    "the request did not end within the " +
                        std::to_string(std::chrono::duration<double>(time).count()) +
                        " s it was given; give it more time with timeout_s, or ask for less"});
    });
}

// The worker died. Sampling depends on seed, choice and position only, so another one continues the
// same answer from the ids that came.
void Generations::Impl::go_on(std::uint64_t number, Error error) {
    Generation* generation = find(number);
    if (generation == nullptr) return;
    generation->is_submitted_ = false;
    if (is_stopping_ || ++generation->deaths_ >= kMaxDeaths) return fail(number, std::move(error));
    log(LogLevel::info, generation->order_.model.id + ": generation " + std::to_string(number) +
                            " goes on in another process after " +
                            std::to_string(generation->tokens_) + " tokens");
    load(*generation);
}

void Generations::Impl::consumed(std::uint64_t number, std::uint32_t deltas) {
    Generation* generation = find(number);
    if (generation == nullptr) return;
    deltas = std::min(deltas, generation->unread_);
    if (deltas == 0) return;
    generation->unread_ -= deltas;
    if (generation->is_submitted_) supervisor_.grant(generation->order_.model.id, number, deltas);
}

void Generations::Impl::cancel(std::uint64_t number) {
    const Handle generation = take(number);
    if (!generation) return;
    withdraw(*generation);
    if (observer_ != nullptr)
        observer_->on_failed(number, {ErrorCode::cancelled, "the client is gone"});
}

void Generations::Impl::withdraw(const Generation& generation) {
    if (generation.is_submitted_) {
        supervisor_.cancel(generation.order_.model.id, generation.number_);
    }
}

void Generations::Impl::stop() {
    is_stopping_ = true;
    for (const auto& [number, generation] : table_) {
        withdraw(*generation);
        fail_later(number, stopping_error());
    }
}

void Generations::Impl::fail_later(std::uint64_t number, Error error) {
    boost::asio::post(io_, [weak = weak_from_this(), number, error = std::move(error)] {
        if (const auto self = weak.lock()) self->fail(number, error);
    });
}

void Generations::Impl::fail(std::uint64_t number, Error error) {
    const Handle generation = take(number);
    if (!generation) return;
    if (observer_ != nullptr) observer_->on_failed(number, error);
    generation->subscriber_.on_error(std::move(error));
}

Generations::Impl::Generation* Generations::Impl::find(std::uint64_t number) {
    const auto found = table_.find(number);
    return found == table_.end() ? nullptr : found->second.get();
}

Generations::Impl::Handle Generations::Impl::take(std::uint64_t number) {
    auto node = table_.extract(number);
    return node.empty() ? nullptr : std::move(node.mapped());
}

Generations::Generations(boost::asio::io_context& io, supervise::Supervisor& supervisor,
                         Config config)
    : impl_(std::make_shared<Impl>(io, supervisor, config)) {}
Generations::~Generations() = default;

void Generations::set_observer(Observer* observer) { impl_->set_observer(observer); }

std::uint64_t Generations::start(Order order, Subscriber& subscriber) {
    return impl_->start(std::move(order), subscriber);
}

void Generations::consumed(std::uint64_t generation, std::uint32_t deltas) {
    impl_->consumed(generation, deltas);
}

void Generations::cancel(std::uint64_t generation) { impl_->cancel(generation); }

int Generations::in_flight() const { return impl_->in_flight(); }

void Generations::stop() { impl_->stop(); }

std::uint64_t Generations::draw_seed() {
    std::random_device device;
    const std::uint64_t high = device();
    return ((high << 32U) | device()) >> 11U;
}

}  // namespace hearth::generate
