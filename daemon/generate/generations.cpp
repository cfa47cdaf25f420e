// From start() to the last call of the subscriber. A subscriber may call back at any time, so a
// generation leaves the table before its last call.
#include "daemon/generate/generations.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace hearth::generate {
namespace {

using Clock = std::chrono::steady_clock;

const Error& stopping_error() {
    static const Error error{ErrorCode::shutting_down, "the daemon is stopping"};
    return error;
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

    private:
        friend class Impl;
        Impl& impl_;
        std::uint64_t number_;
        Order order_;
        Subscriber& subscriber_;
        wire::ModelInfo model_;
        Clock::time_point started_ = Clock::now();
        double load_ms_ = 0;  // from start() to the worker
        bool is_submitted_ = false;
    };
    using Handle = std::unique_ptr<Generation>;

    void on_loaded(std::uint64_t number, Result<wire::ModelInfo> model);
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
    if (impl_.observer_ != nullptr)
        impl_.observer_->on_accepted(number_, accepted.prompt_ids.size());
    subscriber_.on_accepted({.seed = order_.request.sampling.seed.value_or(0),
                             .prompt_ids = std::move(accepted.prompt_ids),
                             .model = model_});
}

void Generations::Impl::Generation::on_delta(wire::Delta delta) {
    if (impl_.observer_ != nullptr) impl_.observer_->on_tokens(number_, delta.ids.size());
    subscriber_.on_delta(std::move(delta));
}

void Generations::Impl::Generation::on_done(wire::Done done) {
    const Handle self = impl_.take(number_);
    done.timings.queue_ms += load_ms_;
    if (impl_.observer_ != nullptr) impl_.observer_->on_done(number_, done);
    subscriber_.on_done(std::move(done));
}

void Generations::Impl::Generation::on_failed(Error error) {
    impl_.fail(number_, std::move(error));
}

std::uint64_t Generations::Impl::start(Order order, Subscriber& subscriber) {
    const std::uint64_t number = ++last_number_;
    const bool is_full = in_flight() >= config_.max_generations;
    if (!order.request.sampling.seed) order.request.sampling.seed = draw_seed();
    order.request.credit = config_.window;
    const supervise::ModelFile model = order.model;
    table_.emplace(number,
                   std::make_unique<Generation>(*this, number, std::move(order), subscriber));
    if (observer_ != nullptr) observer_->on_started(number, find(number)->order_);
    if (is_stopping_) {
        fail_later(number, stopping_error());
    } else if (is_full) {
        fail_later(number, {ErrorCode::busy, std::to_string(config_.max_generations) +
                                                 " generations run already; try again later"});
    } else {
        supervisor_.ensure_loaded(model, [weak = weak_from_this(), number](auto result) {
            if (const auto self = weak.lock()) self->on_loaded(number, std::move(result));
        });
    }
    return number;
}

void Generations::Impl::on_loaded(std::uint64_t number, Result<wire::ModelInfo> model) {
    Generation* generation = find(number);
    if (generation == nullptr) return;  // cancelled while the model was loading
    if (!model) return fail(number, std::move(model).error());
    generation->model_ = *std::move(model);
    const std::chrono::duration<double, std::milli> waited = Clock::now() - generation->started_;
    generation->load_ms_ = waited.count();
    const auto submitted = supervisor_.submit(generation->order_.model.id, number,
                                              generation->order_.request, *generation);
    if (!submitted) return fail(number, submitted.error());
    generation->is_submitted_ = true;
    // The worker has the prompt; a copy of megabytes need not stay here.
    generation->order_.request.prompt = wire::IdsPrompt{};
}

void Generations::Impl::consumed(std::uint64_t number, std::uint32_t deltas) {
    const Generation* generation = find(number);
    if (generation == nullptr || !generation->is_submitted_ || deltas == 0) return;
    supervisor_.grant(generation->order_.model.id, number, deltas);
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
