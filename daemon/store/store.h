// The stored state, for other threads. Thread "hearth-store" is the only one that touches SQLite;
// callbacks come through the Post given at the start.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/store/task_thread.h"
#include "engine/base/result.h"
#include "models/library/package.h"

namespace hearth::store {

struct Contents {
    std::vector<library::Package> packages;
    std::map<std::string, std::string> settings;
};

class Store {
public:
    using Done = std::function<void(Result<void>)>;

    // Opens and migrates the database and reads what it holds; waits for it.
    static Result<std::unique_ptr<Store>> open(const std::string& path, Post post);
    ~Store();  // after everything asked for is on disk
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    const Contents& contents_at_start() const { return contents_; }

    void add_package(library::Package package, Done done);
    void remove_package(std::string id, Done done);
    void set_setting(std::string key, std::string value, Done done);
    void erase_setting(std::string key, Done done);

private:
    struct Tables;
    explicit Store(Post post);
    Result<void> open_here(const std::string& path);

    std::unique_ptr<Tables> tables_;  // touched on the thread only
    Contents contents_;
    TaskThread thread_;  // last: it uses the others
};

}  // namespace hearth::store
