#include "daemon/store/migrations.h"

#include <array>

namespace hearth::store {
namespace {

constexpr std::array<const char*, 1> kSteps = {
    // 1: models and settings. `part` numbers the files of one model.
    R"(
    CREATE TABLE models (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        added INTEGER NOT NULL,
        kind TEXT NOT NULL,
        architecture TEXT NOT NULL,
        quantization TEXT NOT NULL,
        context INTEGER NOT NULL,
        parameters INTEGER NOT NULL,
        has_chat_template INTEGER NOT NULL,
        unsupported TEXT NOT NULL
    ) STRICT;
    CREATE TABLE files (
        model TEXT NOT NULL REFERENCES models (id) ON DELETE CASCADE,
        part INTEGER NOT NULL,
        path TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        in_place INTEGER NOT NULL,
        PRIMARY KEY (model, part)
    ) STRICT;
    CREATE TABLE settings (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT;
    )"};

Result<int> version_of(Database& database) {
    HEARTH_TRY(Statement statement, database.prepare("PRAGMA user_version"));
    HEARTH_TRY(const bool row, statement.step());
    return row ? static_cast<int>(statement.number(0)) : 0;
}

}  // namespace

int latest_version() { return static_cast<int>(kSteps.size()); }

Result<void> migrate(Database& database) {
    HEARTH_TRY(const int version, version_of(database));
    if (version > latest_version())
        return Error{ErrorCode::unsupported_version,
                     "the database has layout " + std::to_string(version) +
                         ", this hearthd knows up to " + std::to_string(latest_version()) +
                         "; start the newer hearthd that wrote it"};
    for (int step = version; step < latest_version(); ++step) {
        HEARTH_TRY(Transaction transaction, Transaction::begin(database));
        HEARTH_TRY_VOID(database.run(kSteps[static_cast<std::size_t>(step)]));
        HEARTH_TRY_VOID(database.run("PRAGMA user_version = " + std::to_string(step + 1)));
        HEARTH_TRY_VOID(transaction.commit());
    }
    return {};
}

}  // namespace hearth::store
