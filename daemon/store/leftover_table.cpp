#include "daemon/store/leftover_table.h"

namespace hearth::store {

Result<std::vector<std::string>> LeftoverTable::all() {
    HEARTH_TRY(Statement rows, database_.prepare("SELECT name FROM leftovers ORDER BY name"));
    std::vector<std::string> names;
    for (;;) {
        HEARTH_TRY(const bool row, rows.step());
        if (!row) return names;
        names.push_back(rows.text(0));
    }
}

Result<void> LeftoverTable::insert(const std::string& name) {
    HEARTH_TRY(Statement statement,
               database_.prepare("INSERT OR IGNORE INTO leftovers VALUES (?)"));
    return statement.bind(name).run();
}

Result<void> LeftoverTable::erase(const std::string& name) {
    HEARTH_TRY(Statement statement, database_.prepare("DELETE FROM leftovers WHERE name = ?"));
    return statement.bind(name).run();
}

}  // namespace hearth::store
