// Installed models, kept in step with the disk: import, delete, choose the default. Runs on thread
// "hearth-net"; hashing and copying happen on "hearth-jobs", rows are written by "hearth-store".
//
// Imports run one after the other, so that the same content never comes in twice. The name of a
// file of ours is in the database before the file is made, and until it is gone: see
// models/library's recover.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/api/lifeline.h"
#include "daemon/store/store.h"
#include "daemon/supervise/inspect.h"
#include "engine/base/file_system.h"
#include "engine/base/result.h"
#include "models/library/library.h"
#include "models/library/place.h"

namespace hearth::api {

struct Import {
    std::string path;
    std::string name;  // empty: the model's own, else the file's
    library::Placement placement = library::Placement::automatic;
};
struct Imported {
    library::Package package;
    bool existed = false;
    std::string placed;
};

// Hears of what changes, when it has changed. Imports are numbered from 1.
class LibraryWatcher {
public:
    virtual ~LibraryWatcher() = default;
    virtual void on_import_started(std::uint64_t import, const std::string& path) = 0;
    virtual void on_import_ended(std::uint64_t import, const Result<Imported>& result) = 0;
    virtual void on_added(const library::Package& package) = 0;
    virtual void on_removed(const std::string& id) = 0;
    virtual void on_default_chosen() = 0;
};

class LibraryService {
public:
    using OnFacts = std::function<void(Result<supervise::FileFacts>)>;
    using Inspect = std::function<void(const std::string& path, OnFacts done)>;
    using OnImported = std::function<void(Result<Imported>)>;
    using Done = std::function<void(Result<void>)>;

    struct Options {
        library::Folders folders;
        Inspect inspect;
        std::string build;  // models that another one looked into are inspected again
        FileSystem* files = &real_files();
    };

    LibraryService(store::Store& store, store::TaskThread& jobs, Options options);

    const library::Library& library() const { return library_; }

    // Null: nobody watches any more.
    void set_watcher(LibraryWatcher* watcher) { watcher_ = watcher; }

    void import_model(Import request, OnImported done);
    // The row goes first, then the files. not_found when there is no such model.
    void remove(const std::string& id, Done done);
    void choose_default(const std::string& id, Done done);

    // Files that lie in our own folder and that no row names come back as models, under their file
    // names, one after the other. For a database that had to be begun anew.
    void adopt(const std::vector<std::string>& paths);
    // Asks this build about the models that only another one has looked into.
    void inspect_again();

    // Imports that run end with cancelled; later ones are refused.
    void stop();

private:
    struct Job {
        Import request;
        OnImported done;
        supervise::FileFacts facts;
        bool adopts = false;  // the file lies where it belongs
    };

    void next_import();
    void on_facts(Result<supervise::FileFacts> facts);
    // shared_ptr: see the .cpp.
    void on_hashed(Result<std::shared_ptr<library::HashedFile>> hashed);
    // shared_ptr: see the .cpp.
    void place(library::Package package, std::shared_ptr<library::HashedFile> source);
    void on_placed(library::Package package, Result<library::Placed> placed);
    void give_up(const std::string& file_name, Error error);
    void finish_import(Result<Imported> result);
    library::Package describe(const Job& job) const;
    void delete_removed(const library::Package& package, Done done);
    void next_inspection();

    store::Store& store_;
    store::TaskThread& jobs_;
    Options options_;
    library::Library library_;
    std::deque<Job> imports_;   // the first one runs
    std::uint64_t import_ = 0;  // its number
    LibraryWatcher* watcher_ = nullptr;
    std::set<std::string> removing_;    // ids whose files are not gone yet
    std::deque<std::string> outdated_;  // ids to inspect again; the first one runs
    std::atomic<bool> stop_ = false;    // read on "hearth-jobs"
    Lifeline lifeline_;
};

}  // namespace hearth::api
