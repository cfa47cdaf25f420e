// T111: what the database acknowledged is there after a power cut at any step, and the database is
// sound; and the check itself fails when a sync is left out or SQLite is told not to sync.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "daemon/store/database.h"
#include "daemon/store/migrations.h"
#include "daemon/store/model_table.h"
#include "tests/support/fault_disk.h"
#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::store;
using namespace hearth::testing;

namespace {

library::Package package_of(const std::string& id) {
    library::Package package;
    package.id = id;
    package.name = std::string(700, 'n');  // so that some rows fill a page
    package.kind = "model";
    package.files = {{"/" + id, {1, 2}, std::string(64, 'a'), false}};
    return package;
}

// One life of the database. It writes its log back now and then, as a busy one does after 1000
// pages, and when it is closed.
void live(FaultDisk& disk, const std::string& path, const std::string& first, const char* extra) {
    auto database = Database::open(path, {&disk.files(), disk.vfs()});
    ASSERT_TRUE(database) << database.error().message;
    ASSERT_TRUE(database->run("PRAGMA wal_autocheckpoint = 12"));
    ASSERT_TRUE(database->run(extra));
    ASSERT_TRUE(migrate(*database));
    ModelTable models(*database);
    for (int i = 0; i < 6; ++i) {
        const std::string id = first + std::to_string(i);
        ASSERT_TRUE(models.insert(package_of(id)));
        disk.acknowledge("have " + id);
    }
    for (const char* number : {"1", "4"}) {
        disk.acknowledge("either " + first + number);
        ASSERT_TRUE(models.erase(first + number));
        disk.acknowledge("gone " + first + number);
    }
}

void scenario(FaultDisk& disk, const std::string& path, const char* extra = "") {
    live(disk, path, "a", extra);
    live(disk, path, "b", extra);
}

Result<bool> is_sound(Database& database) {
    for (const char* sql : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
        HEARTH_TRY(Statement statement, database.prepare(sql));
        HEARTH_TRY(const bool row, statement.step());
        if (row && statement.text(0) != "ok") return false;
    }
    return true;
}

std::string wrong_after(FaultDisk& disk, const std::string& path, std::size_t steps,
                        std::uint32_t choice) {
    std::map<std::string, std::string> promised;
    for (const std::string& promise : disk.power_cut(steps, choice))
        promised[promise.substr(promise.find(' ') + 1)] = promise.substr(0, promise.find(' '));
    auto database = Database::open(path, {&disk.files(), disk.vfs()});
    if (!database) return database.error().message;
    if (const auto sound = is_sound(*database); !sound || !*sound) return "it is not sound";
    if (const auto migrated = migrate(*database); !migrated) return migrated.error().message;
    const auto packages = ModelTable(*database).all();
    if (!packages) return packages.error().message;
    std::set<std::string> there;
    for (const library::Package& package : *packages) there.insert(package.id);
    for (const auto& [id, promise] : promised) {
        if (promise == "have" && !there.contains(id)) return id + " was acknowledged and is gone";
        if (promise == "gone" && there.contains(id)) return id + " was erased and is back";
    }
    return {};
}

std::string first_wrong(FaultDisk& disk, const std::string& path, std::uint32_t choices) {
    for (std::size_t steps = disk.skipped_step(); steps <= disk.steps(); ++steps)
        for (std::uint32_t choice = 0; choice < choices; ++choice)
            if (const std::string wrong = wrong_after(disk, path, steps, choice); !wrong.empty())
                return wrong + " (step " + std::to_string(steps) + ", choice " +
                       std::to_string(choice) + ")";
    return {};
}

TEST(T111, WhatWasAcknowledgedIsThereAfterAPowerCutAtAnyStep) {
    const TempDir folder;
    FaultDisk disk(folder.path());
    scenario(disk, folder.file("hearth.db"));
    EXPECT_GT(disk.steps(), 200U);
    EXPECT_EQ(first_wrong(disk, folder.file("hearth.db"), 12), "");
}

TEST(T111, TheCheckFailsWhenSqliteIsToldNotToSync) {
    const TempDir folder;
    FaultDisk disk(folder.path());
    scenario(disk, folder.file("hearth.db"), "PRAGMA synchronous = OFF");
    EXPECT_NE(first_wrong(disk, folder.file("hearth.db"), 12), "");
}

// SQLite syncs its log more often than promises need it: before it writes it back, and when it
// begins it anew. Needed is each sync of the database and of its folder, and the last one of the
// log before a promise. (The rollback journal is used once, when there is nothing to lose yet.)
TEST(T111, TheCheckFailsWhenAnyOneSyncThatAPromiseRestsOnIsLeftOut) {
    std::size_t checked = 0;
    std::vector<std::size_t> before_promises;
    for (int number = 0;; ++number) {
        const TempDir folder;
        const std::string path = folder.file("hearth.db");
        FaultDisk disk(folder.path());
        disk.skip_sync(number);
        before_promises.clear();
        disk.on_promise([&] { before_promises.push_back(disk.syncs().size() - 1); });
        scenario(disk, path);
        const auto place = static_cast<std::size_t>(number);
        if (place >= disk.syncs().size()) break;
        const std::string& name = disk.syncs()[place];
        const bool is_last = std::find(before_promises.begin(), before_promises.end(), place) !=
                             before_promises.end();
        if (name == path + "-journal" || (name == path + "-wal" && !is_last)) continue;
        EXPECT_NE(first_wrong(disk, path, 8), "") << "sync " << number << " of " << name;
        ++checked;
    }
    EXPECT_GT(checked, 15U);
}

}  // namespace
