#include "daemon/app/app.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>

#include "daemon/api/library_service.h"
#include "daemon/api/router.h"
#include "daemon/api/telemetry.h"
#include "daemon/app/build_id.h"
#include "daemon/app/logging.h"
#include "daemon/app/tcp_door.h"
#include "daemon/generate/generations.h"
#include "daemon/net/inherited.h"
#include "daemon/net/listener.h"
#include "daemon/net/socket_file.h"
#include "daemon/store/data_lock.h"
#include "daemon/store/store.h"
#include "daemon/supervise/inspect.h"
#include "daemon/supervise/supervisor.h"
#include "engine/base/log.h"
#include "models/library/recover.h"

namespace hearth::app {
namespace {

using std::chrono::milliseconds;

// 5 s in all: workers are asked, then killed, and answers on their way get a moment to leave.
constexpr milliseconds kWorkerStopTime{3'000};
constexpr milliseconds kStopTime{4'500};
constexpr milliseconds kFlushTime{50};
constexpr std::size_t kMaxJobs = 256;

class LoopTimer final : public api::Timer {
public:
    explicit LoopTimer(boost::asio::io_context& io) : timer_(io) {}

    void start(milliseconds time, std::function<void()> action) override {
        timer_.expires_after(time);
        // Cancelled and replaced waits may have been on their way already: only the latest counts.
        timer_.async_wait([this, alive = std::weak_ptr(alive_), number = ++number_,
                           action = std::move(action)](const boost::system::error_code& problem) {
            if (!problem && !alive.expired() && number == number_) action();
        });
    }
    void cancel() override {
        ++number_;
        timer_.cancel();
    }

private:
    boost::asio::steady_timer timer_;
    std::uint64_t number_ = 0;
    // shared: one owner; waits watch it.
    std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

// Settings with this before an id say why the model is quarantined.
constexpr std::string_view kQuarantine = "quarantine/";
// What the engine runs at once when nothing else is set.
constexpr int kDefaultSequences = 64;

void keep_quarantine(store::Store& store, const std::string& id, const std::string& reason) {
    const std::string key = std::string(kQuarantine) + id;
    const auto done = [id](const Result<void>& written) {
        if (!written)
            log(LogLevel::warning,
                "the quarantine of " + id + " is not on disk: " + written.error().message);
    };
    if (reason.empty()) {
        log(LogLevel::info, id + ": its quarantine is lifted");
        store.erase_setting(key, done);
    } else {
        log(LogLevel::warning, id + ": quarantined: " + reason);
        store.set_setting(key, reason, done);
    }
}

supervise::Config supervise_config(const Config& config, store::Store& store,
                                   std::function<void()> on_change) {
    supervise::Config out;
    out.silence_time = config.hang_time;
    for (const auto& [key, value] : store.contents_at_start().settings)
        if (key.starts_with(kQuarantine)) out.quarantined[key.substr(kQuarantine.size())] = value;
    out.on_quarantine = [&store](const std::string& id, const std::string& reason) {
        keep_quarantine(store, id, reason);
    };
    out.worker_path = config.worker;
    out.idle_time = config.idle_unload;
    out.stop_time = kWorkerStopTime;
    out.max_loaded = config.max_loaded;
    out.on_worker_line = [](std::string_view model, std::string_view line) {
        log(LogLevel::info, std::string(model) + ": " + std::string(line));
    };
    out.on_change = std::move(on_change);
    return out;
}

generate::Config generate_config(const Config& config) {
    generate::Config out;
    const int running = config.max_sequences > 0 ? config.max_sequences : kDefaultSequences;
    out.max_per_model = running + config.max_waiting;
    out.max_generations = std::max(out.max_generations, out.max_per_model);
    return out;
}

wire::Load load_defaults(const Config& config) {
    wire::Load load;
    load.backend = config.backend;
    load.threads = config.threads;
    load.context = config.context;
    load.kv_bytes = config.kv_bytes;
    load.key_type = config.key_type;
    load.value_type = config.value_type;
    load.max_sequences = config.max_sequences;
    return load;
}

net::ListenerConfig listener_config(const Config& config) {
    net::ListenerConfig out;
    out.origins = config.allow_origin;
    return out;
}

// A socket that was passed on takes the place of ours.
Result<net::SocketFile> open_socket(const std::string& path, int inherited) {
    if (inherited >= 0) return net::SocketFile::adopt(path, inherited);
    return net::SocketFile::listen(path);
}

// What two hundred clients needed for a minute is no use to a daemon that waits for the next one.
void give_back_memory() { ::malloc_trim(0); }

// Every connection and every worker takes a descriptor or two.
void allow_many_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::string version() { return HEARTH_VERSION; }

class App::Parts {
public:
    struct Opened {
        net::SocketFile socket;
        int tcp = -1;  // inherited
        access::TokenFile token;
        store::DataLock lock;
        std::unique_ptr<store::Store> store;
        library::Folders folders;
        std::vector<std::string> found;  // files in our folders that nobody owns
        std::vector<std::string> notes;

        void tidy_up();
    };

    Parts(std::unique_ptr<boost::asio::io_context> io, Opened opened, const Config& config,
          const store::Post& post)
        : io_(std::move(io)),
          signals_(*io_, SIGTERM, SIGINT, SIGHUP),
          stop_timer_(*io_),
          lock_(std::move(opened.lock)),
          store_(std::move(opened.store)),
          jobs_(std::make_unique<store::TaskThread>("hearth-jobs", kMaxJobs, post)),
          supervisor_(
              *io_, supervise_config(config, *store_, [this] { telemetry_.on_models_changed(); })),
          generations_(*io_, supervisor_, generate_config(config)),
          token_(opened.token, keyring_, post, [this] { tcp_door_.on_token_changed(); }),
          library_(*store_, *jobs_,
                   {opened.folders, inspect_with(config), own_build(config), &real_files()}),
          telemetry_({supervisor_, generations_, library_, std::make_unique<LoopTimer>(*io_),
                      std::make_unique<LoopTimer>(*io_), give_back_memory}),
          services_{library_,
                    supervisor_,
                    generations_,
                    telemetry_,
                    facts(config, opened.notes),
                    load_defaults(config),
                    [this] { boost::asio::post(*io_, [this] { stop(); }); },
                    token_,
                    [this] { return api::Reach{tcp_door_.status(), listener_.connections()}; }},
          router_(services_),
          listener_(*io_, router_, keyring_, listener_config(config)),
          tcp_door_(listener_, keyring_, opened.token,
                    {.on = config.tcp, .port = config.port, .inherited = opened.tcp}) {
        services_.log_prompts = config.log_prompts;
        listener_.open(std::move(opened.socket));
        if (store_->contents_at_start().is_new) library_.adopt(opened.found);
        library_.inspect_again();
    }

    ~Parts() {
        library_.stop();
        jobs_.reset();  // its tasks use the library
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void run() {
        wait_for_signal();
        tcp_door_.open();
        log(LogLevel::info, "hearthd " + services_.facts.version + " (" + services_.facts.build +
                                ") listens at " + services_.facts.socket);
        io_->run();
        log(LogLevel::info, "hearthd has stopped");
    }

private:
    api::LibraryService::Inspect inspect_with(const Config& config) {
        return [this, worker = config.worker](const std::string& path,
                                              api::LibraryService::OnFacts done) {
            supervise::inspect(*io_, path, {.worker_path = worker}, std::move(done));
        };
    }

    static std::string own_build(const Config& config) {
        return build_id(supervise::worker_program(config.worker));
    }

    static api::DaemonFacts facts(const Config& config, const std::vector<std::string>& notes) {
        return {
            version(),          own_build(config), config.socket, std::chrono::steady_clock::now(),
            config.idle_unload, log_trouble,       notes,         config.request_time};
    }

    // The first asks to stop, the second does not wait for anything.
    void wait_for_signal() {
        signals_.async_wait([this](const boost::system::error_code& problem, int) {
            if (problem) return;
            if (stopping_) {
                log(LogLevel::info, "hearthd was told twice to stop");
                end_after(milliseconds(0));
            } else {
                stop();
            }
            wait_for_signal();
        });
    }

    void stop() {
        if (std::exchange(stopping_, true)) return;
        log(LogLevel::info, "hearthd is stopping");
        listener_.stop();
        library_.stop();
        telemetry_.stop();
        generations_.stop();
        end_after(kStopTime);
        supervisor_.stop([this] { end_after(kFlushTime); });
    }

    void end_after(milliseconds time) {
        stop_timer_.expires_after(time);
        stop_timer_.async_wait([this](const boost::system::error_code& problem) {
            if (problem) return;
            listener_.close_all();
            // After the turn in which the sessions give up what ran for them.
            boost::asio::post(*io_, [this] { io_->stop(); });
        });
    }

    std::unique_ptr<boost::asio::io_context> io_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer stop_timer_;
    store::DataLock lock_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::TaskThread> jobs_;
    supervise::Supervisor supervisor_;
    generate::Generations generations_;
    access::Keyring keyring_;
    api::TokenService token_;
    api::LibraryService library_;
    api::Telemetry telemetry_;
    api::Services services_;
    api::Router router_;
    net::Listener listener_;
    TcpDoor tcp_door_;
    bool stopping_ = false;
};

// What a crash has left, and what the user should hear of it.
void App::Parts::Opened::tidy_up() {
    const store::Contents& contents = store->contents_at_start();
    if (!contents.set_aside.empty())
        notes.push_back("the database was damaged and lies at " + contents.set_aside +
                        "; the list of models was made anew from the files in " + folders.models +
                        ", models used in place must be imported again");
    auto recovered = library::recover(real_files(), folders, contents.packages, contents.leftovers);
    if (!recovered) {
        notes.push_back("what a crash has left could not be cleaned: " + recovered.error().message);
    } else {
        for (const std::string& name : recovered->settled)
            store->remove_leftover(name, [](const Result<void>&) {});  // else at the next start
        for (const std::string& path : recovered->deleted)
            log(LogLevel::info, path + " was left by an import that was cut off; it is deleted");
        found = std::move(recovered->strangers);
        for (const std::string& path : found)
            if (!contents.is_new)
                notes.push_back(path + " belongs to no model of ours; import it or delete it");
    }
    for (const std::string& note : notes) log(LogLevel::warning, note);
}

Result<std::unique_ptr<App>> App::make(const Config& config, const protocol::Paths& paths) {
    std::signal(SIGPIPE, SIG_IGN);
    allow_many_descriptors();
    // First the socket: a second hearthd must say so at once and touch nothing.
    const net::Inherited inherited = net::take_inherited();
    HEARTH_TRY(net::SocketFile socket, open_socket(config.socket, inherited.unix_socket));
    auto io = std::make_unique<boost::asio::io_context>(1);
    const store::Post post = [raw = io.get()](store::Task task) {
        boost::asio::post(*raw, std::move(task));
    };
    const library::Folders folders = {paths.data + "/models", paths.data + "/partial"};
    HEARTH_TRY_VOID(make_private_folder(paths.data));
    HEARTH_TRY(store::DataLock lock,
               store::DataLock::take(real_files(), paths.data, config.socket));
    HEARTH_TRY_VOID(library::make_folders(folders));
    HEARTH_TRY(auto store, store::Store::open(paths.data + "/hearth.db", post));
    Parts::Opened opened{std::move(socket),
                         inherited.tcp,
                         access::TokenFile(paths.config + "/token"),
                         std::move(lock),
                         std::move(store),
                         folders,
                         {},
                         {}};
    opened.tidy_up();
    return std::unique_ptr<App>(
        new App(std::make_unique<Parts>(std::move(io), std::move(opened), config, post)));
}

App::App(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

App::~App() = default;

void App::run() { parts_->run(); }

}  // namespace hearth::app
