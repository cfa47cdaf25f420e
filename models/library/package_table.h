// Where packages are remembered. Declared here because the library needs it; implemented with
// SQLite in daemon/store. Blocking; called on one thread.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "models/library/package.h"

namespace hearth::library {

class PackageTable {
public:
    virtual ~PackageTable() = default;
    virtual Result<std::vector<Package>> all() = 0;
    // Durable when it returns. bad_input when the id is taken. Its files are left-overs no more.
    virtual Result<void> insert(const Package& package) = 0;
    // What was found in its file; its files stay as they are. not_found when there is none.
    virtual Result<void> update(const Package& package) = 0;
    // Its own files become left-overs. not_found when there is none.
    virtual Result<void> erase(const std::string& id) = 0;
};

}  // namespace hearth::library
