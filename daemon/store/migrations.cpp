#include "daemon/store/migrations.h"

#include <array>

namespace hearth::store {
namespace {

// No more steps than this will ever be written: a larger number is a broken byte.
constexpr int kLastPlausible = 10'000;

constexpr std::array<const char*, 2> kSteps = {
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
    )",
    // 2: which build looked into a model; names in our folders that are on their way in or out: a
    // file of such a name is ours, and nobody's who needs it when hearthd starts.
    R"(
    ALTER TABLE models ADD COLUMN inspected_by TEXT NOT NULL DEFAULT '';
    CREATE TABLE leftovers (
        name TEXT PRIMARY KEY
    ) STRICT;
    )"};

}  // namespace

int latest_version() { return static_cast<int>(kSteps.size()); }

Result<int> layout_version(Database& database) {
    HEARTH_TRY(Statement statement, database.prepare("PRAGMA user_version"));
    HEARTH_TRY(const bool row, statement.step());
    return row ? static_cast<int>(statement.number(0)) : 0;
}

Result<void> migrate(Database& database) {
    HEARTH_TRY(const int version, layout_version(database));
    if (version < 0 || version > kLastPlausible)
        return Error{ErrorCode::storage_damaged,
                     "the database is damaged: no hearthd has a layout " + std::to_string(version)};
    if (version > latest_version()) {
        database.leave_untouched();
        return Error{ErrorCode::unsupported_version,
                     "the database has layout " + std::to_string(version) +
                         ", this hearthd knows up to " + std::to_string(latest_version()) +
                         "; start the newer hearthd that wrote it"};
    }
    if (version > 0 && version < latest_version())
        HEARTH_TRY_VOID(database.back_up(".layout-" + std::to_string(version)));
    for (int step = version; step < latest_version(); ++step) {
        HEARTH_TRY(Transaction transaction, Transaction::begin(database));
        HEARTH_TRY_VOID(database.run(kSteps[static_cast<std::size_t>(step)]));
        HEARTH_TRY_VOID(database.run("PRAGMA user_version = " + std::to_string(step + 1)));
        HEARTH_TRY_VOID(transaction.commit());
    }
    return {};
}

}  // namespace hearth::store
