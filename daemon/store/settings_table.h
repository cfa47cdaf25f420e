// Key and value, both text.
#pragma once

#include <map>

#include "daemon/store/database.h"

namespace hearth::store {

class SettingsTable {
public:
    explicit SettingsTable(Database& database) : database_(database) {}

    Result<std::map<std::string, std::string>> all();
    Result<void> set(const std::string& key, const std::string& value);
    Result<void> erase(const std::string& key);

private:
    Database& database_;
};

}  // namespace hearth::store
