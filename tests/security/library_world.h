// The library with its store and threads on a disk that can lose what was not synced: everything of
// hearthd that an import or a deletion passes through, except the worker that inspects the file.
#pragma once

#include <fcntl.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include "daemon/api/library_service.h"
#include "daemon/store/leftover_table.h"
#include "daemon/store/migrations.h"
#include "daemon/store/store.h"
#include "models/library/ids.h"
#include "models/library/recover.h"
#include "tests/support/fault_disk.h"
#include "tests/support/paths.h"

namespace hearth::testing {

// The thread "hearth-net" of a test: what other threads post is run where somebody waits for it.
class PostBox {
public:
    store::Post post() {
        return [this](store::Task task) {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
            arrived_.notify_one();
        };
    }
    void run_until(const bool& done) {
        while (!done) {
            std::unique_lock lock(mutex_);
            arrived_.wait(lock, [this] { return !tasks_.empty(); });
            const store::Task task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<store::Task> tasks_;
};

struct Place {
    explicit Place(const std::filesystem::path& where)
        : root(where),
          home(root + "/home"),
          data(root + "/data"),
          folders{data + "/models", data + "/partial"} {
        for (const std::string& folder : {home, data, folders.models, folders.partial})
            std::filesystem::create_directories(folder);
    }
    std::string database() const { return data + "/hearth.db"; }

    std::string root;
    std::string home;  // of the user's own files
    std::string data;
    library::Folders folders;
};

class LibraryWorld {
public:
    LibraryWorld(FaultDisk& disk, const Place& place) : disk_(disk), place_(place) {}
    ~LibraryWorld() {
        if (library_) library_->stop();
        jobs_.reset();
        library_.reset();
        store_.reset();
    }
    LibraryWorld(const LibraryWorld&) = delete;
    LibraryWorld& operator=(const LibraryWorld&) = delete;

    // As a hearthd of this build starts, whose worker says this of every model.
    Result<void> start(const std::string& build = "build", const std::string& unsupported = {}) {
        HEARTH_TRY(store_, store::Store::open(place_.database(), box_.post(),
                                              {&disk_.files(), disk_.vfs()}));
        const store::Contents& contents = store_->contents_at_start();
        HEARTH_TRY(recovered_, library::recover(disk_.files(), place_.folders, contents.packages,
                                                contents.leftovers));
        for (const std::string& name : recovered_.settled)
            store_->remove_leftover(name, [](const Result<void>&) {});
        jobs_ = std::make_unique<store::TaskThread>("jobs", 64, box_.post());
        const auto inspect = [this, unsupported](const std::string&,
                                                 const api::LibraryService::OnFacts& done) {
            supervise::FileFacts facts;
            facts.kind = "model";
            facts.architecture = "fake";
            facts.unsupported = unsupported;
            ++inspections_;
            done(facts);
        };
        library_ = std::make_unique<api::LibraryService>(
            *store_, *jobs_,
            api::LibraryService::Options{place_.folders, inspect, build, &disk_.files()});
        library_->inspect_again();
        return {};
    }
    int inspections() const { return inspections_; }

    Result<api::Imported> import(const std::string& path, library::Placement placement) {
        return wait_for<api::Imported>(
            [&](auto done) { library_->import_model({path, {}, placement}, done); });
    }
    Result<void> remove(const std::string& id) {
        return wait_for<void>([&](auto done) { library_->remove(id, done); });
    }

    void remove_later(const std::string& id, bool& is_done) {
        library_->remove(id, [&is_done](const Result<void>&) { is_done = true; });
    }
    void run_until(const bool& is_done) { box_.run_until(is_done); }

    const std::vector<library::Package>& packages() const { return library_->library().packages(); }
    const store::Contents& contents() const { return store_->contents_at_start(); }
    const library::Recovered& recovered() const { return recovered_; }

private:
    template <typename T, typename Call>
    Result<T> wait_for(Call call) {
        bool is_done = false;
        std::optional<Result<T>> answer;
        call([&](Result<T> result) {
            answer = std::move(result);
            is_done = true;
        });
        box_.run_until(is_done);
        return *std::move(answer);
    }

    FaultDisk& disk_;
    Place place_;
    PostBox box_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::TaskThread> jobs_;
    std::unique_ptr<api::LibraryService> library_;
    library::Recovered recovered_;
    int inspections_ = 0;
};

// A file of the user's, written a moment ago and not synced by whoever wrote it.
inline std::string user_file(FaultDisk& disk, const std::string& path, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) text += path + " " + std::to_string(i) + "\n";
    text.resize(size);
    const library::Descriptor file(disk.files().open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    disk.files().write(file.get(), std::as_bytes(std::span(text)));
    return path;
}

inline std::string hash_of(const std::string& path) {
    const std::atomic<bool> stop = false;
    const auto hashed = library::hash_file(real_files(), path, stop);
    return hashed ? hashed->file.sha256 : "";
}

}  // namespace hearth::testing
