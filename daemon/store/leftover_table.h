// Names of files in our own folders that are on their way in or out. A name is written before its
// file is made, and forgotten when a package owns the file or the file is gone; what is still here
// when hearthd starts was cut off, and may be deleted.
#pragma once

#include <string>
#include <vector>

#include "daemon/store/database.h"

namespace hearth::store {

class LeftoverTable {
public:
    explicit LeftoverTable(Database& database) : database_(database) {}

    Result<std::vector<std::string>> all();
    Result<void> insert(const std::string& name);  // once more is no error
    Result<void> erase(const std::string& name);

private:
    Database& database_;
};

}  // namespace hearth::store
