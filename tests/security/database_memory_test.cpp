// T113, the database's part: the N-th allocation of SQLite fails, for every N, once and from then
// on, while a database is opened, migrated, written and read.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
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

// SQLite's own allocator behind a counter. Set before SQLite is used, so this is a program of its
// own.
struct Allocator {
    sqlite3_mem_methods real{};
    int left = -1;  // allocations until the one that fails; negative: none does
    bool for_good = false;
    bool hit = false;

    bool fails() {
        if (left < 0) return false;
        if (left > 0 && --left > 0) return false;
        hit = true;
        if (!for_good) left = -1;
        return true;
    }
};
Allocator allocator;

void install() {
    ::sqlite3_shutdown();
    ASSERT_EQ(::sqlite3_config(SQLITE_CONFIG_GETMALLOC, &allocator.real), SQLITE_OK);
    sqlite3_mem_methods counted = allocator.real;
    counted.xMalloc = [](int size) -> void* {
        return allocator.fails() ? nullptr : allocator.real.xMalloc(size);
    };
    counted.xRealloc = [](void* old, int size) -> void* {
        return allocator.fails() ? nullptr : allocator.real.xRealloc(old, size);
    };
    ASSERT_EQ(::sqlite3_config(SQLITE_CONFIG_MALLOC, &counted), SQLITE_OK);
    // Small allocations otherwise come out of a pool, past the counter.
    ASSERT_EQ(::sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
}

library::Package package_of(const std::string& id) {
    library::Package package;
    package.id = id;
    package.name = std::string(3000, 'n');
    package.kind = "model";
    package.files = {{"/" + id, {1, 2}, std::string(64, 'a'), false}};
    return package;
}

// The simulated disk is used for its speed: it syncs nothing.
Result<Database> open(FaultDisk& disk) {
    return Database::open(disk.folder() + "/hearth.db", {&disk.files(), disk.vfs()});
}

// As far as it comes; `have` and `gone` are what was acknowledged.
Result<void> live(FaultDisk& disk, std::set<std::string>& have, std::string& gone) {
    HEARTH_TRY(Database database, open(disk));
    HEARTH_TRY_VOID(database.check());
    HEARTH_TRY_VOID(migrate(database));
    ModelTable models(database);
    for (const char* id : {"a", "b"}) {
        HEARTH_TRY_VOID(models.insert(package_of(id)));
        have.insert(id);
    }
    have.erase("a");
    HEARTH_TRY_VOID(models.erase("a"));
    gone = "a";
    HEARTH_TRY(const auto packages, models.all());
    EXPECT_EQ(packages.size(), 1U);
    return {};
}

TEST(T113, EveryAllocationOfTheDatabaseMayFail) {
    install();
    for (const bool for_good : {false, true}) {
        for (int n = 1;; ++n) {
            SCOPED_TRACE("allocation " + std::to_string(n) + (for_good ? " and all later" : ""));
            const TempDir folder;
            FaultDisk disk(folder.path());
            disk.vfs();  // before the allocations that may fail
            std::set<std::string> have;
            std::string gone;
            allocator.hit = false;
            allocator.for_good = for_good;
            allocator.left = n;
            const auto lived = live(disk, have, gone);
            allocator.left = -1;
            if (!allocator.hit) {
                ASSERT_TRUE(lived) << lived.error().message;
                EXPECT_GT(n, 100);
                break;
            }
            // Some allocations SQLite can do without; else the reason is the true one.
            if (!lived) {
                EXPECT_TRUE(lived.error().code == ErrorCode::no_memory ||
                            lived.error().code == ErrorCode::io_failed)
                    << to_string(lived.error().code) << ": " << lived.error().message;
            }
            auto database = open(disk);
            ASSERT_TRUE(database) << database.error().message;
            ASSERT_TRUE(database->check());
            ASSERT_TRUE(migrate(*database));
            const auto packages = ModelTable(*database).all();
            ASSERT_TRUE(packages);
            std::set<std::string> there;
            for (const library::Package& package : *packages) there.insert(package.id);
            for (const std::string& id : have) EXPECT_TRUE(there.contains(id)) << id;
            EXPECT_FALSE(there.contains(gone));
            if (HasFailure()) return;
        }
    }
}

}  // namespace
