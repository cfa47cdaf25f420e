// After a crash: what imports and deletions that were cut off have left in our folders is deleted;
// what nobody has written down is reported and stays.
#pragma once

#include <string>
#include <vector>

#include "engine/base/file_system.h"
#include "models/library/package.h"
#include "models/library/place.h"

namespace hearth::library {

// The name of the file of a package in folders.models, and of its copy while it grows.
std::string file_name_for(const std::string& id);

// Deletes what an import that failed has left under that name. On return it is gone from the disk.
Result<void> discard(FileSystem& files, const Folders& folders, const std::string& name);

struct Recovered {
    std::vector<std::string> deleted;    // paths
    std::vector<std::string> settled;    // names that need to be remembered no longer
    std::vector<std::string> strangers;  // paths in our folders that no package has
};

// `leftovers`: names that were written down. One that is not a name of ours deletes nothing.
Result<Recovered> recover(FileSystem& files, const Folders& folders,
                          const std::vector<Package>& packages,
                          const std::vector<std::string>& leftovers);

}  // namespace hearth::library
