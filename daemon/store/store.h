// The stored state, for other threads. Thread "hearth-store" is the only one that touches SQLite;
// callbacks come through the Post given at the start.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/store/database.h"
#include "daemon/store/task_thread.h"
#include "engine/base/result.h"
#include "models/library/package.h"

namespace hearth::store {

struct Contents {
    std::vector<library::Package> packages;
    std::map<std::string, std::string> settings;
    std::vector<std::string> leftovers;  // names in our folders of imports and deletions cut off
    bool is_new = false;                 // there was no database, or nothing to be read in it
    std::string set_aside;               // where a damaged database lies now; empty: it was sound
};

class Store {
public:
    using Done = std::function<void(Result<void>)>;

    // Opens, checks and migrates the database and reads what it holds; waits for it. A damaged one
    // is renamed, with its log, and an empty one begun.
    static Result<std::unique_ptr<Store>> open(const std::string& path, Post post,
                                               const DatabaseOptions& options = {});
    ~Store();  // after everything asked for is on disk
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    const Contents& contents_at_start() const { return contents_; }

    // Each is durable when `done` says so. An error means that it is not stored: after a failed
    // write the database is closed and opened anew, never tried again as if nothing had happened.
    void add_package(library::Package package, Done done);
    void update_package(library::Package package, Done done);
    void remove_package(std::string id, Done done);
    void add_leftover(std::string name, Done done);
    void remove_leftover(std::string name, Done done);
    void set_setting(std::string key, std::string value, Done done);
    void erase_setting(std::string key, Done done);

private:
    struct Tables;
    using Work = std::function<Result<void>(Tables&)>;
    Store(std::string path, const DatabaseOptions& options, Post post);
    Result<void> open_here();
    Result<void> open_sound();
    Result<void> set_aside();
    void run(Work work, Done done, Work undo = {});
    void reopen(const Work& undo);

    std::string path_;
    DatabaseOptions options_;
    std::unique_ptr<Tables> tables_;  // touched on the thread only; null: could not be reopened
    Contents contents_;
    TaskThread thread_;  // last: it uses the others
};

}  // namespace hearth::store
