// One worker: the child process, the socket to it, its error stream. Knows frames and messages, but
// not what they mean. Runs on the thread of the io_context.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/supervise/line_splitter.h"
#include "daemon/supervise/spawn.h"
#include "engine/base/result.h"
#include "ipc/worker/frames.h"
#include "ipc/worker/messages.h"

namespace hearth::supervise {

class WorkerProcess : public std::enable_shared_from_this<WorkerProcess> {
public:
    class Listener {
    public:
        virtual ~Listener() = default;
        virtual void on_message(std::uint64_t request, wire::FromWorker message) = 0;
        // The connection or the process has ended and no message will come: `how` completes "the
        // worker …". Once.
        virtual void on_lost(const std::string& how) = 0;
        // The process has been reaped. Once, after on_lost.
        virtual void on_gone() = 0;
    };
    struct Order {
        std::string program;
        int model = -1;  // descriptor of the model file, borrowed
        std::function<void(std::string_view)> on_line;
    };

    // Starts `program serve` with the socket as descriptor 3 and the model as 4. The listener must
    // outlive the process or call forget(). shared_ptr: owned by the supervisor's slot and by each
    // operation that waits in the io_context.
    static Result<std::shared_ptr<WorkerProcess>> start(boost::asio::io_context& io, Order order,
                                                        Listener& listener);
    WorkerProcess(boost::asio::io_context& io, Child child, Order order, Listener& listener);
    ~WorkerProcess();

    pid_t pid() const { return child_.pid(); }
    // busy when the worker does not take what was sent before; too_large.
    Result<void> send(std::uint64_t request, const wire::ToWorker& message);
    // Asks it to end; kill() when it does not.
    void shut_down();
    void kill() { child_.kill(); }
    // Ends a worker that broke the protocol; on_lost comes later, never from inside this call.
    void condemn(const std::string& why);
    // The listener gets no more calls; kills and reaps the child. Waits for that, at most some
    // milliseconds.
    void forget();

private:
    Result<void> begin(Descriptor socket, Descriptor errors);
    void read_socket();
    void read_errors();
    void write_next();
    void wait_for_exit();
    void take_frames();
    void connection_closed();
    void finish();
    void end_child();
    bool is_reaped() const { return !how_.empty(); }
    void lost(const std::string& how);

    Child child_;
    Order order_;
    Listener* listener_;  // null after forget()
    boost::asio::local::stream_protocol::socket socket_;
    boost::asio::posix::stream_descriptor errors_;
    boost::asio::posix::stream_descriptor exit_;
    LineSplitter lines_;
    wire::FrameReader frames_;
    std::array<char, 64 * 1024> input_;
    std::array<char, 4096> error_input_;
    std::deque<std::string> output_;
    std::size_t output_bytes_ = 0;
    std::string how_;         // "exit code 1"; empty until reaped
    bool is_lost_ = false;    // no more messages for the listener
    bool is_ending_ = false;  // was asked to end
    bool is_closed_ = false;  // the connection was read to its end
};

}  // namespace hearth::supervise
