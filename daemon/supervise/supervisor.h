// Which model is loaded where: starts, watches, restarts and stops workers, one process per loaded
// model. Everything runs on the thread that runs the io_context ("hearth-net"); every callback
// comes from there too, never from inside the call that registered it.
//
// A worker's replies are untrusted: what does not parse or does not fit ends that worker, and
// nothing else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "ipc/worker/messages.h"

namespace hearth::supervise {

struct Config {
    std::string worker_path;  // empty: hearth-worker beside our own executable
    std::chrono::milliseconds idle_time{
        600'000};  // then a model that nobody uses is unloaded; 0: never
    std::chrono::milliseconds stop_time{
        5'000};  // a worker that was asked to end is killed after it
    std::chrono::milliseconds load_time{600'000};  // longest load
    // A worker that says nothing for so long while somebody waits for it is killed. It is asked for
    // a sign of life before.
    std::chrono::milliseconds silence_time{30'000};
    std::chrono::milliseconds death_window{60'000};  // over which deaths are counted; see health.h
    int max_loaded = 2;
    // Lines that a worker wrote to its error stream, made printable and cut to 1000 bytes.
    std::function<void(std::string_view model, std::string_view line)> on_worker_line;
    // The list of loaded models or the state of one has changed.
    std::function<void()> on_change;
    // Models that an earlier run quarantined, with the reason, and what to do when that changes
    // (an empty reason: lifted).
    std::map<std::string, std::string> quarantined;
    std::function<void(const std::string& id, const std::string& reason)> on_quarantine;
};

// A model as files on disk, and how to load it. Workers are keyed by `id`; a model that is loaded
// keeps its options until it is unloaded.
struct ModelFile {
    std::string id;
    std::string path;  // opened when the worker starts
    wire::Load options;
    bool force = false;  // load it even when it is quarantined; a success lifts that
};

enum class State : std::uint8_t { waiting, loading, ready, stopping };
std::string_view to_string(State state);

struct LoadedModel {
    std::string id;
    std::string path;
    State state = State::waiting;
    int pid = 0;           // 0 while waiting for room
    wire::ModelInfo info;  // empty until ready
    wire::Sandbox sandbox;
    double load_ms = 0;
    std::uint64_t resident_bytes = 0;  // VmRSS of /proc/<pid>/status
    std::uint64_t private_bytes = 0;   // RssAnon of the same
    int generations = 0;               // running or waiting in it
    std::chrono::milliseconds unused{0};
    wire::Stats stats;
};

// Replies to one generation. After on_done or on_failed the sink is not called again.
class ReplySink {
public:
    virtual ~ReplySink() = default;
    virtual void on_accepted(wire::Accepted accepted) = 0;
    virtual void on_delta(wire::Delta delta) = 0;
    virtual void on_done(wire::Done done) = 0;
    virtual void on_failed(Error error) = 0;
    // The worker is gone: in place of on_failed. What was sent holds, and the rest may be asked of
    // the next worker.
    virtual void on_lost(Error error) { on_failed(std::move(error)); }
};

// What a loaded model is asked besides generations.
using Question = std::variant<wire::Tokenize, wire::Detokenize>;

using OnTokens = std::function<void(Result<wire::Tokens>)>;
using OnLoaded = std::function<void(Result<wire::ModelInfo>)>;
using OnUnloaded = std::function<void(Result<void>)>;
using OnList = std::function<void(std::vector<LoadedModel>)>;

class Supervisor {
public:
    Supervisor(boost::asio::io_context& io, Config config);
    ~Supervisor();  // kills what still runs and reaps it
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    // Answers when the model is ready; callers that come while it loads share the load. busy: all
    // places are taken by models that work. not_found, io_failed: the file. worker_died, timed_out:
    // the process. quarantined: loading it did harm before. Else the worker's own error.
    void ensure_loaded(const ModelFile& file, OnLoaded done);
    // Loads the model when needed, then asks it. busy: too many questions wait. Else errors as of
    // ensure_loaded, and the worker's own.
    void ask(const ModelFile& file, Question question, OnTokens done);
    // Ends the worker; its generations get shutting_down. not_found: it is not loaded. Answers when
    // the process is gone.
    void unload(const std::string& id, OnUnloaded done);
    // Asks every ready worker for its numbers first; a worker that does not answer within 200 ms
    // gives its last ones. Does not count as use.
    void list(OnList done);
    // As list(), but with what glance() knows of memory: cheap enough for four times a second.
    void poll(OnList done);
    bool is_loaded(const std::string& id) const;
    // As list(), at once and without asking: the numbers are those of the last list(), and private
    // memory (which is slow to find out) is 0.
    std::vector<LoadedModel> glance() const;
    // Models that are not loaded but by force, and why.
    const std::map<std::string, std::string>& quarantined() const;
    // Forgets what the model did: it is removed.
    void forget(const std::string& id);

    // Hands a generation to a model that is ready (call it from OnLoaded). `generation` is unique
    // among all that run.
    Result<void> submit(const std::string& id, std::uint64_t generation,
                        const wire::Generate& request, ReplySink& sink);
    // The sink gets no more calls; the worker stops within a step. Unknown generations are ignored.
    void cancel(const std::string& id, std::uint64_t generation);
    void grant(const std::string& id, std::uint64_t generation, std::uint32_t deltas);

    // Ends every worker; generations and loads get shutting_down, later calls too. `done` comes
    // when all are gone.
    void stop(std::function<void()> done);

private:
    class Impl;
    // shared_ptr: only this object owns it; handlers in the io_context hold weak_ptrs.
    std::shared_ptr<Impl> impl_;
};

}  // namespace hearth::supervise
