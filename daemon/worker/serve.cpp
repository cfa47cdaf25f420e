// The main thread reads frames and hands them to the engine; answers go through the outbox. The
// model is loaded on thread "hearth-loader", so that the daemon always gets a sign of life.
#include "daemon/worker/serve.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "daemon/worker/convert.h"
#include "daemon/worker/outbox.h"
#include "daemon/worker/sandbox.h"
#include "daemon/worker/token_answers.h"
#include "engine/base/mapped_file.h"
#include "engine/generate/engine.h"
#include "ipc/worker/blocking.h"
#include "ipc/worker/codec.h"

namespace hearth::worker {
namespace {

constexpr int kSocket = 3;
constexpr int kModel = 4;
// Below the desktop's own programs, so that a long prompt does not make the machine stutter.
constexpr int kNice = 5;
// When memory runs out, the worker should go and not the daemon.
constexpr const char* kOutOfMemoryScore = "300";

int fail(const Error& error) {
    std::cerr << "hearth-worker: " << error.message << '\n';
    return 1;
}

bool send(std::uint64_t request, const wire::FromWorker& message) {
    auto bytes = wire::encode(request, message);
    if (!bytes) bytes = wire::encode(request, wire::FromWorker(wire::Failure{bytes.error()}));
    return bytes && wire::write_frame(kSocket, *bytes).has_value();
}

class Server {
public:
    explicit Server(wire::Sandbox sandbox) : sandbox_(std::move(sandbox)), outbox_(send) {}
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    Result<void> run();

private:
    void take(std::uint64_t request, wire::Load load);
    void take(std::uint64_t request, wire::Generate message);
    void take(std::uint64_t request, wire::Cancel);
    void take(std::uint64_t request, wire::Credit credit);
    void take(std::uint64_t request, wire::Shutdown);
    void take(std::uint64_t request, wire::StatsRequest);
    void take(std::uint64_t request, wire::Tokenize question) { reply(request, question); }
    void take(std::uint64_t request, wire::Detokenize question) { reply(request, question); }
    template <typename Question>
    void reply(std::uint64_t request, Question& question);
    void load(std::uint64_t request, const wire::Load& load);

    wire::Sandbox sandbox_;
    Outbox outbox_;
    std::unique_ptr<Engine> engine_;        // after the outbox, to which it sends
    std::atomic<Engine*> ready_ = nullptr;  // engine_, when the loader is through with it
    std::atomic<bool> is_loading_ = false;
    bool is_ending_ = false;
    std::thread loader_;
};

Server::~Server() {
    // Nobody wants a half-loaded model, and a load cannot be interrupted.
    if (is_loading_) _exit(0);
    if (loader_.joinable()) loader_.join();
    outbox_.set_canceller(nullptr);
    engine_.reset();
}

Result<void> Server::run() {
    wire::FrameReader reader;
    while (!is_ending_) {
        HEARTH_TRY(const std::optional<wire::Frame> frame, wire::read_frame(kSocket, reader));
        if (!frame) return {};  // the daemon is gone
        HEARTH_TRY(wire::ToWorker message, wire::decode_to_worker(*frame));
        std::visit([&](auto& m) { take(frame->request, std::move(m)); }, message);
    }
    return {};
}

Result<std::unique_ptr<Engine>> open_engine(const wire::Load& load) {
    HEARTH_TRY(const EngineOptions options, to_options(load));
    HEARTH_TRY(MappedFile file, MappedFile::from_descriptor(kModel, load.name));
    close(kModel);
    return Engine::open(std::move(file), options);
}

void Server::take(std::uint64_t request, wire::Load order) {
    if (loader_.joinable())
        return outbox_.say(request, wire::Failed{{ErrorCode::bad_input, "loaded twice"}});
    is_loading_ = true;
    loader_ = std::thread([this, request, order = std::move(order)] { load(request, order); });
    pthread_setname_np(loader_.native_handle(), "hearth-loader");
}

void Server::load(std::uint64_t request, const wire::Load& load) {
    const auto begin = std::chrono::steady_clock::now();
    auto engine = open_engine(load);
    if (!engine) {
        outbox_.say(request, wire::Failed{engine.error()});
        is_loading_ = false;
        shutdown(kSocket, SHUT_RD);  // the main thread sees the end of its frames, and ends
        return;
    }
    engine_ = *std::move(engine);
    outbox_.set_canceller([this](std::uint64_t generation) { engine_->cancel(generation); });
    ready_ = engine_.get();
    is_loading_ = false;
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    outbox_.say(request, wire::Ready{.model = from_engine(engine_->info()),
                                     .sandbox = sandbox_,
                                     .load_ms = time.count()});
}

void Server::take(std::uint64_t request, wire::Generate message) {
    if (outbox_.is_open(request)) {
        return outbox_.say(request,
                           wire::Failure{{ErrorCode::internal, "a number was used twice"}});
    }
    outbox_.open(request, message.credit, message.logprobs);
    auto converted = to_request(std::move(message));
    if (!converted) return outbox_.refuse(request, converted.error());
    Engine* engine = ready_;
    if (engine == nullptr)
        return outbox_.refuse(request, {ErrorCode::internal, "no model is loaded"});
    const auto submitted = engine->submit(request, *std::move(converted), outbox_);
    if (!submitted) outbox_.refuse(request, submitted.error());
}

void Server::take(std::uint64_t request, wire::Cancel) {
    outbox_.drop(request);
    if (Engine* engine = ready_) engine->cancel(request);
}

void Server::take(std::uint64_t request, wire::Credit credit) {
    outbox_.add_credit(request, credit.deltas);
}

void Server::take(std::uint64_t, wire::Shutdown) { is_ending_ = true; }

void Server::take(std::uint64_t request, wire::StatsRequest) {
    const Engine* engine = ready_;
    outbox_.say(request, engine != nullptr ? from_engine(engine->stats()) : wire::Stats{});
}

template <typename Question>
void Server::reply(std::uint64_t request, Question& question) {
    const Engine* engine = ready_;
    if (engine == nullptr)
        return outbox_.say(request, wire::Failure{{ErrorCode::internal, "no model is loaded"}});
    auto tokens = answer(*engine, std::move(question));
    if (!tokens) return outbox_.say(request, wire::Failure{std::move(tokens).error()});
    outbox_.say(request, *std::move(tokens));
}

// False when the daemon ended before the kernel was asked to tell.
bool has_daemon() {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(kSocket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return true;
    return peer.pid == 0 || peer.pid == getppid();
}

}  // namespace

int serve() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!has_daemon()) return 0;
    setpriority(PRIO_PROCESS, 0, kNice);
    std::ofstream("/proc/self/oom_score_adj") << kOutOfMemoryScore;
    auto sandbox = enter_sandbox();
    if (!sandbox) return fail(sandbox.error());
    Server server(*std::move(sandbox));
    const auto result = server.run();
    return result ? 0 : fail(result.error());
}

}  // namespace hearth::worker
