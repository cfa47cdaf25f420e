// The database when something is wrong with it: damaged (T115), with a log that is not its own or
// locked by others (T116), opened twice (T118), of an older or newer layout (T120), with odd texts
// (T121), on a file system without locks (T128).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <set>

#include "daemon/store/data_lock.h"
#include "daemon/store/migrations.h"
#include "daemon/store/model_table.h"
#include "daemon/store/settings_table.h"
#include "daemon/store/store.h"
#include "engine/base/log.h"
#include "tests/support/fault_disk.h"
#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::store;
using namespace hearth::testing;
namespace fs = std::filesystem;

namespace {

std::string text_at(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

library::Package package_of(const std::string& id, const std::string& name = "name") {
    library::Package package;
    package.id = id;
    package.name = name;
    package.kind = "model";
    package.files = {{"/" + id, {1, 2}, std::string(64, 'a'), false}};
    return package;
}

class DatabaseFaults : public ::testing::Test {
protected:
    DatabaseFaults() {
        set_log_sink([](LogLevel, std::string_view) {});
    }

    // A database with two models; and its log as it is while it is open.
    void make(const std::string& path) {
        auto database = Database::open(path);
        ASSERT_TRUE(database);
        ASSERT_TRUE(migrate(*database));
        ASSERT_TRUE(ModelTable(*database).insert(package_of("a", std::string(5000, 'x'))));
        ASSERT_TRUE(ModelTable(*database).insert(package_of("b")));
        open_bytes_ = text_at(path);
        open_log_ = text_at(path + "-wal");
    }
    Result<std::unique_ptr<Store>> start() const {
        return Store::open(path_, [](const Task& task) { task(); });
    }
    void clear() const {
        for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove(entry.path());
    }
    // Starts on these bytes. Either all rows are read, or the original is kept aside.
    std::string start_on(const std::string& bytes, const std::string& log) {
        clear();
        write(path_, bytes);
        if (!log.empty()) write(path_ + "-wal", log);
        const auto store = start();
        if (!store) return store.error().message;
        const Contents& contents = (*store)->contents_at_start();
        if (contents.set_aside.empty()) return {};
        ++set_aside_;
        if (text_at(contents.set_aside).empty()) return "the original is gone";
        if (!contents.packages.empty() || !contents.is_new) return "the new one is not new";
        return {};
    }

    const TempDir folder_;
    const std::string path_ = folder_.file("hearth.db");
    std::string open_bytes_;
    std::string open_log_;
    int set_aside_ = 0;
};

class T115 : public DatabaseFaults {};
class T116 : public DatabaseFaults {};
class T118 : public DatabaseFaults {};
class T120 : public DatabaseFaults {};
class T121 : public DatabaseFaults {};
class T128 : public DatabaseFaults {};

TEST_F(T115, WhateverIsWrongWithTheFileTheStoreStartsAndKeepsTheOriginal) {
    make(path_);
    const std::string sound = text_at(path_);
    ASSERT_GT(sound.size(), 4096U);
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "not a database ";
    EXPECT_EQ(start_on(text, ""), "");
    EXPECT_EQ(set_aside_, 1);
    for (const std::size_t size : {100UL, 4095UL, 4096UL, sound.size() - 4096})
        EXPECT_EQ(start_on(sound.substr(0, size), ""), "") << size;
    EXPECT_EQ(set_aside_, 5);
    for (const std::size_t size : {0UL, 1UL}) EXPECT_EQ(start_on(sound.substr(0, size), ""), "");
    EXPECT_EQ(set_aside_, 5);  // nothing to keep
}

TEST_F(T115, FlippedBytesAreDetectedOrHarmless) {
    make(path_);
    const std::string sound = text_at(path_);
    std::mt19937 random(115);
    std::vector<std::size_t> places(100);
    for (std::size_t i = 0; i < 100; ++i) places[i] = i;  // the header, every byte
    std::uniform_int_distribution<std::size_t> any(100, sound.size() - 1);
    for (int i = 0; i < 150; ++i) places.push_back(any(random));
    for (const std::size_t place : places) {
        // The number of the layout: a newer hearthd's database is refused, and that is right.
        if (place >= 60 && place < 64) continue;
        std::string bytes = sound;
        bytes[place] = static_cast<char>(bytes[place] ^ 0x41);
        EXPECT_EQ(start_on(bytes, ""), "") << "byte " << place;
    }
    EXPECT_GT(set_aside_, 10);
}

TEST_F(T115, FlippedBytesInTheLogLoseNoMoreThanTheLog) {
    make(path_);
    ASSERT_FALSE(open_log_.empty());
    std::mt19937 random(115);
    std::uniform_int_distribution<std::size_t> any(0, open_log_.size() - 1);
    for (int i = 0; i < 100; ++i) {
        std::string log = open_log_;
        const std::size_t place = i < 32 ? static_cast<std::size_t>(i) : any(random);
        log[place] = static_cast<char>(log[place] ^ 0x41);
        EXPECT_EQ(start_on(open_bytes_, log), "") << "byte " << place;
    }
}

TEST_F(T116, ALogThatIsMissingStaleOrForeignIsNotPlayed) {
    make(path_);
    const std::string closed = text_at(path_);
    EXPECT_EQ(start_on(open_bytes_, ""), "");          // missing
    EXPECT_EQ(start_on(closed, open_log_), "");        // written back already
    EXPECT_EQ(start_on(closed, open_log_ + "x"), "");  // and torn
    clear();
    const std::string other = folder_.file("other.db");
    make(other);
    EXPECT_EQ(start_on(closed, open_log_), "");  // of another database
}

TEST_F(T116, AForeignLockIsSaidAtOnce) {
    make(path_);
    sqlite3* other = nullptr;
    ASSERT_EQ(::sqlite3_open(path_.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(::sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    const auto before = std::chrono::steady_clock::now();
    const auto store = start();
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::busy);
    ::sqlite3_close(other);
    EXPECT_TRUE(start());
}

// By the simulated disk, since root may write everywhere.
TEST_F(T116, AReadOnlyDiskIsAClearError) {
    make(path_);
    FaultDisk disk(folder_.path());
    disk.set_fault([](FaultDisk::Kind kind, int, const std::string& path) {
        return kind == FaultDisk::Kind::open && path.ends_with("-wal") ? EROFS : 0;
    });
    const auto store =
        Store::open(path_, [](const Task& task) { task(); }, {&disk.files(), disk.vfs()});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::io_failed);
    EXPECT_NE(store.error().message.find("right to write"), std::string::npos)
        << store.error().message;
    EXPECT_EQ(store.error().message.find("damaged"), std::string::npos);
}

TEST_F(T118, ASecondConnectionIsRefusedAndOneThreadHasTheFirst) {
    auto first = Database::open(path_);
    ASSERT_TRUE(first);
    const auto second = Database::open(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::busy);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            set_log_sink({});
            auto database = Database::open(folder_.file("mine.db"));
            std::async(std::launch::async, [&] {
                static_cast<void>(database->run("SELECT 1"));
            }).get();
        },
        "thread_");
}

TEST_F(T118, ManyCheckpointsLeaveTheDatabaseSound) {
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database);
        ASSERT_TRUE(migrate(*database));
        ASSERT_TRUE(database->run("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 5"));
        SettingsTable settings(*database);
        for (int i = 0; i < 2000; ++i)
            ASSERT_TRUE(settings.set("key" + std::to_string(i % 50),
                                     std::string(static_cast<std::size_t>(i), 'v')));
        EXPECT_TRUE(database->check());
    }
    const auto store = start();
    ASSERT_TRUE(store);
    EXPECT_EQ((*store)->contents_at_start().settings.size(), 50U);
}

// tests/data/databases/layout-N.sql: the database as a released hearthd of layout N left it.
std::string fixture(int layout) {
    return text_at(test_data("databases/layout-" + std::to_string(layout) + ".sql"));
}

void make_from(const std::string& path, const std::string& sql) {
    auto database = Database::open(path);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->run(sql));
}

TEST_F(T120, EachOldLayoutIsMigratedAndKeptAsACopy) {
    for (int layout = 1; layout < latest_version(); ++layout) {
        SCOPED_TRACE(layout);
        clear();
        make_from(path_, fixture(layout));
        const auto store = start();
        ASSERT_TRUE(store) << store.error().message;
        const Contents& contents = (*store)->contents_at_start();
        ASSERT_EQ(contents.packages.size(), 2U);
        EXPECT_EQ(contents.packages[0].id, "smollm2-135m-instruct-q4-1");
        EXPECT_EQ(contents.packages[0].parameters, 134'515'008U);
        EXPECT_EQ(contents.settings.at("default_model"), "smollm2-135m-instruct-q4-1");
        auto copy = Database::open(path_ + ".layout-" + std::to_string(layout));
        ASSERT_TRUE(copy);
        EXPECT_EQ(*layout_version(*copy), layout);
        EXPECT_TRUE(copy->check());
    }
}

TEST_F(T120, APowerCutWhileMigratingLeavesTheOldLayoutOrTheNew) {
    make_from(path_, fixture(1));
    FaultDisk disk(folder_.path());
    ASSERT_TRUE(Store::open(path_, [](const Task& task) { task(); }, {&disk.files(), disk.vfs()}));
    EXPECT_GT(disk.steps(), 20U);
    std::set<int> seen;
    for (std::size_t steps = 0; steps <= disk.steps(); ++steps) {
        for (std::uint32_t choice = 0; choice < 8; ++choice) {
            SCOPED_TRACE(std::to_string(steps) + " " + std::to_string(choice));
            disk.power_cut(steps, choice);
            {
                auto database = Database::open(path_, {&disk.files(), disk.vfs()});
                ASSERT_TRUE(database);
                ASSERT_TRUE(database->check());
                const int layout = *layout_version(*database);
                seen.insert(layout);
                ASSERT_TRUE(layout == 1 || fs::exists(path_ + ".layout-1"))
                    << "migrated without a copy";
            }
            const auto store =
                Store::open(path_, [](const Task& task) { task(); }, {&disk.files(), disk.vfs()});
            ASSERT_TRUE(store) << store.error().message;
            ASSERT_EQ((*store)->contents_at_start().packages.size(), 2U);
        }
    }
    EXPECT_EQ(seen, (std::set<int>{1, latest_version()}));
}

TEST_F(T120, AFullDiskAtAnyStepOfAMigrationLeavesTheOldLayout) {
    for (int n = 1;; ++n) {
        SCOPED_TRACE(n);
        clear();
        make_from(path_, fixture(1));
        FaultDisk disk(folder_.path());
        bool hit = false;
        disk.set_fault([&](FaultDisk::Kind kind, int number, const std::string&) {
            if (number < n || kind != FaultDisk::Kind::write) return 0;
            hit = true;
            return ENOSPC;
        });
        const auto store =
            Store::open(path_, [](const Task& task) { task(); }, {&disk.files(), disk.vfs()});
        if (!hit) {
            ASSERT_TRUE(store);
            break;
        }
        disk.set_fault({});
        if (store) continue;  // full only when it closes
        EXPECT_EQ(store.error().code, ErrorCode::disk_full) << store.error().message;
        const auto again =
            Store::open(path_, [](const Task& task) { task(); }, {&disk.files(), disk.vfs()});
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ((*again)->contents_at_start().packages.size(), 2U);
        EXPECT_EQ((*again)->contents_at_start().set_aside, "");
    }
}

TEST_F(T120, ANewerLayoutIsRefusedAndNotTouched) {
    make_from(path_, fixture(1) + "PRAGMA user_version = 99;");
    const std::string before = text_at(path_);
    const auto store = start();
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::unsupported_version);
    EXPECT_EQ(text_at(path_), before);
    // Nor is its log, when the newer one was killed.
    clear();
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->run(fixture(1) + "PRAGMA user_version = 99;"));
        open_bytes_ = text_at(path_);
        open_log_ = text_at(path_ + "-wal");
    }
    clear();
    write(path_, open_bytes_);
    write(path_ + "-wal", open_log_);
    ASSERT_FALSE(start());
    EXPECT_EQ(text_at(path_), open_bytes_);
    EXPECT_EQ(text_at(path_ + "-wal"), open_log_);
}

// The part of T121 without conversations: names of models and settings.
TEST_F(T121, OddTextsComeBackAsTheyWere) {
    const std::string texts[] = {std::string("a\0b", 3),       std::string(10'000'000, 'z'),
                                 "\u202Eright to left",        "' OR 1=1; --",
                                 "\"); DROP TABLE models; --", "%_\\",
                                 "\xff\xfe not UTF-8"};
    auto database = Database::open(path_);
    ASSERT_TRUE(database);
    ASSERT_TRUE(migrate(*database));
    ModelTable models(*database);
    SettingsTable settings(*database);
    int number = 0;
    for (const std::string& text : texts) {
        ASSERT_TRUE(models.insert(package_of("m" + std::to_string(number++), text)));
        ASSERT_TRUE(settings.set(text, text));
    }
    const auto packages = models.all();
    ASSERT_TRUE(packages);
    ASSERT_EQ(packages->size(), std::size(texts));
    for (std::size_t i = 0; i < std::size(texts); ++i) EXPECT_EQ((*packages)[i].name, texts[i]);
    const auto pairs = settings.all();
    for (const std::string& text : texts) EXPECT_EQ(pairs->at(text), text);
}

TEST_F(T128, AFileSystemWithoutLocksIsRefusedWithTheReason) {
    FaultDisk disk(folder_.path());
    for (const int number : {ENOLCK, EOPNOTSUPP}) {
        disk.set_fault([&](FaultDisk::Kind kind, int, const std::string&) {
            return kind == FaultDisk::Kind::other ? number : 0;
        });
        const auto lock = DataLock::take(disk.files(), folder_.path(), "/run/socket");
        ASSERT_FALSE(lock);
        EXPECT_EQ(lock.error().code, ErrorCode::io_failed);
        EXPECT_NE(lock.error().message.find("has no locks"), std::string::npos);
    }
}

}  // namespace
