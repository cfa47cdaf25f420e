// What is installed, as an index in memory: add, remove, find. It does no I/O; the caller keeps the
// table on disk in step (first the table, then this). One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "models/library/package.h"

namespace hearth::library {

class Library {
public:
    void assign(std::vector<Package> packages);
    void add(Package package);
    void remove(const std::string& id);
    void replace(const Package& package);  // the one of the same id, when there is one

    const std::vector<Package>& packages() const { return packages_; }  // in order of their ids
    const Package* find(std::string_view id) const;                     // null: none
    const Package* find_content(std::string_view sha256) const;  // of its first file; null: none

    // What requests without a model get: the chosen one, else the only one; null: neither.
    const Package* fallback() const;
    void set_fallback(std::string id) { fallback_ = std::move(id); }

    // The package that the "model" field of a request names. Empty and "default" mean the fallback.
    // An id matches exactly, else as the only one it is the beginning of. not_found lists what
    // there is.
    Result<const Package*> resolve(std::string_view wanted) const;

private:
    std::string list_of_ids() const;

    std::vector<Package> packages_;
    std::string fallback_;
};

}  // namespace hearth::library
