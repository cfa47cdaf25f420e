#include "daemon/store/settings_table.h"

namespace hearth::store {

Result<std::map<std::string, std::string>> SettingsTable::all() {
    HEARTH_TRY(Statement rows, database_.prepare("SELECT key, value FROM settings"));
    std::map<std::string, std::string> settings;
    for (;;) {
        HEARTH_TRY(const bool row, rows.step());
        if (!row) return settings;
        settings[rows.text(0)] = rows.text(1);
    }
}

Result<void> SettingsTable::set(const std::string& key, const std::string& value) {
    HEARTH_TRY(Statement statement,
               database_.prepare("INSERT INTO settings VALUES (?, ?) "
                                 "ON CONFLICT (key) DO UPDATE SET value = excluded.value"));
    return statement.bind(key).bind(value).run();
}

Result<void> SettingsTable::erase(const std::string& key) {
    HEARTH_TRY(Statement statement, database_.prepare("DELETE FROM settings WHERE key = ?"));
    return statement.bind(key).run();
}

}  // namespace hearth::store
