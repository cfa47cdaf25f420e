// The main thread reads frames and hands them to the engine; answers go through the outbox.
#include "daemon/worker/serve.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
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
    ~Server() { unload(); }
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
    void unload();

    wire::Sandbox sandbox_;
    Outbox outbox_;
    std::unique_ptr<Engine> engine_;  // after the outbox, to which it sends
    bool is_ending_ = false;
};

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

void Server::take(std::uint64_t request, wire::Load load) {
    const auto begin = std::chrono::steady_clock::now();
    if (engine_) return outbox_.say(request, wire::Failed{{ErrorCode::bad_input, "loaded twice"}});
    auto engine = open_engine(load);
    if (!engine) {
        is_ending_ = true;
        return outbox_.say(request, wire::Failed{engine.error()});
    }
    engine_ = *std::move(engine);
    outbox_.set_canceller([this](std::uint64_t generation) { engine_->cancel(generation); });
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
    if (!engine_) return outbox_.refuse(request, {ErrorCode::internal, "no model is loaded"});
    const auto submitted = engine_->submit(request, *std::move(converted), outbox_);
    if (!submitted) outbox_.refuse(request, submitted.error());
}

void Server::take(std::uint64_t request, wire::Cancel) {
    outbox_.drop(request);
    if (engine_) engine_->cancel(request);
}

void Server::take(std::uint64_t request, wire::Credit credit) {
    outbox_.add_credit(request, credit.deltas);
}

void Server::take(std::uint64_t, wire::Shutdown) { is_ending_ = true; }

void Server::take(std::uint64_t request, wire::StatsRequest) {
    outbox_.say(request, engine_ ? from_engine(engine_->stats()) : wire::Stats{});
}

template <typename Question>
void Server::reply(std::uint64_t request, Question& question) {
    if (!engine_)
        return outbox_.say(request, wire::Failure{{ErrorCode::internal, "no model is loaded"}});
    auto tokens = answer(*engine_, std::move(question));
    if (!tokens) return outbox_.say(request, wire::Failure{std::move(tokens).error()});
    outbox_.say(request, *std::move(tokens));
}

void Server::unload() {
    outbox_.set_canceller(nullptr);
    engine_.reset();
}

}  // namespace

int serve() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, kNice);
    std::ofstream("/proc/self/oom_score_adj") << kOutOfMemoryScore;
    auto sandbox = enter_sandbox();
    if (!sandbox) return fail(sandbox.error());
    Server server(*std::move(sandbox));
    const auto result = server.run();
    return result ? 0 : fail(result.error());
}

}  // namespace hearth::worker
