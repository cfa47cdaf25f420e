// The asynchronous side of one worker. Every handler holds the object, so that it may be dropped at
// any time.
#include "daemon/supervise/worker_process.h"

#include <fcntl.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <utility>

#include "ipc/worker/codec.h"

namespace hearth::supervise {
namespace {

// Two requests of the greatest size may wait.
constexpr std::size_t kMaxOutputBytes = 2 * (wire::kMaxPayload + wire::kHeaderBytes);

using boost::system::error_code;

}  // namespace

// shared_ptr: see the header.
Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start(boost::asio::io_context& io,
                                                            Order order, Listener& listener) {
    HEARTH_TRY(auto sockets, make_socket_pair());
    HEARTH_TRY(Pipe errors, make_pipe());
    HEARTH_TRY(const Descriptor null, open_null());
    const SpawnOrder spawn_order{.program = order.program,
                                 .arguments = {"serve"},
                                 .descriptors = {null.get(), errors.write.get(), errors.write.get(),
                                                 sockets.second.get(), order.model}};
    HEARTH_TRY(Child child, spawn(spawn_order));
    // shared_ptr: see the header.
    auto process =
        std::make_shared<WorkerProcess>(io, std::move(child), std::move(order), listener);
    HEARTH_TRY_VOID(process->begin(std::move(sockets.first), std::move(errors.read)));
    return process;
}

WorkerProcess::WorkerProcess(boost::asio::io_context& io, Child child, Order order,
                             Listener& listener)
    : child_(std::move(child)),
      order_(std::move(order)),
      listener_(&listener),
      socket_(io),
      errors_(io),
      exit_(io),
      lines_(order_.on_line) {}

WorkerProcess::~WorkerProcess() {
    end_child();
    exit_.release();  // the child owns this descriptor
}

Result<void> WorkerProcess::begin(Descriptor socket, Descriptor errors) {
    error_code failed;
    socket_.assign(boost::asio::local::stream_protocol(), socket.get(), failed);
    if (!failed) {
        socket.release();
        errors_.assign(errors.get(), failed);
    }
    if (!failed) {
        errors.release();
        exit_.assign(child_.descriptor(), failed);
    }
    if (failed) return Error{ErrorCode::io_failed, "cannot watch a worker: " + failed.message()};
    wait_for_exit();
    read_errors();
    read_socket();
    return {};
}

Result<void> WorkerProcess::send(std::uint64_t request, const wire::ToWorker& message) {
    HEARTH_TRY(std::string bytes, wire::encode(request, message));
    if (is_lost_) return Error{ErrorCode::worker_died, "the worker has ended"};
    if (output_bytes_ + bytes.size() > kMaxOutputBytes) {
        return Error{ErrorCode::busy, "the worker does not take more requests; try again later"};
    }
    output_bytes_ += bytes.size();
    output_.push_back(std::move(bytes));
    if (output_.size() == 1) write_next();
    return {};
}

void WorkerProcess::write_next() {
    boost::asio::async_write(socket_, boost::asio::buffer(output_.front()),
                             [self = shared_from_this()](error_code failed, std::size_t) {
                                 if (failed) return;  // the reading side reports the end
                                 self->output_bytes_ -= self->output_.front().size();
                                 self->output_.pop_front();
                                 if (!self->output_.empty()) self->write_next();
                             });
}

void WorkerProcess::read_socket() {
    socket_.async_read_some(boost::asio::buffer(input_),
                            [self = shared_from_this()](error_code failed, std::size_t bytes) {
                                if (failed) return self->connection_closed();
                                if (!self->is_lost_) {
                                    self->frames_.feed({self->input_.data(), bytes});
                                    self->take_frames();
                                }
                                self->read_socket();
                            });
}

void WorkerProcess::connection_closed() {
    is_closed_ = true;
    // Without a connection a worker is of no use, unless it is on its way out.
    if (how_.empty() && !is_ending_) child_.kill();
    finish();
}

void WorkerProcess::shut_down() {
    is_ending_ = true;
    if (!send(0, wire::Shutdown{})) child_.kill();
}

void WorkerProcess::take_frames() {
    while (!is_lost_ && listener_ != nullptr) {
        auto frame = frames_.next();
        if (!frame) return condemn("sent " + frame.error().message);
        if (!*frame) return;
        auto message = wire::decode_from_worker(**frame);
        if (!message) return condemn("sent a broken message: " + message.error().message);
        listener_->on_message((*frame)->request, *std::move(message));
    }
}

void WorkerProcess::read_errors() {
    errors_.async_read_some(boost::asio::buffer(error_input_),
                            [self = shared_from_this()](error_code failed, std::size_t bytes) {
                                if (failed) return self->lines_.finish();
                                self->lines_.feed({self->error_input_.data(), bytes});
                                self->read_errors();
                            });
}

void WorkerProcess::wait_for_exit() {
    exit_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](error_code failed) {
                         if (failed || self->is_reaped()) return;
                         self->how_ = self->child_.reap(/*wait=*/false);
                         if (!self->is_reaped()) return self->wait_for_exit();
                         self->finish();
                     });
}

// What a worker wrote before its end still counts (the last message may say why), so the end is
// reported when the process is reaped and its connection is read to the end.
void WorkerProcess::finish() {
    if (!is_reaped() || !is_closed_) return;
    lost("ended with " + how_);
    if (listener_ != nullptr) std::exchange(listener_, nullptr)->on_gone();
}

void WorkerProcess::condemn(const std::string& why) {
    if (is_lost_) return;
    child_.kill();
    is_lost_ = true;
    boost::asio::post(exit_.get_executor(), [self = shared_from_this(), why] {
        if (self->listener_ != nullptr) self->listener_->on_lost(why);
    });
}

void WorkerProcess::lost(const std::string& how) {
    if (is_lost_) return;
    is_lost_ = true;
    if (listener_ != nullptr) listener_->on_lost(how);
}

void WorkerProcess::end_child() {
    if (is_reaped()) return;
    child_.kill();
    how_ = child_.reap(/*wait=*/true);
}

void WorkerProcess::forget() {
    listener_ = nullptr;
    lines_ = LineSplitter(nullptr);
    is_lost_ = true;
    end_child();
    error_code ignored;
    socket_.close(ignored);
    errors_.close(ignored);
    exit_.release();
}

}  // namespace hearth::supervise
