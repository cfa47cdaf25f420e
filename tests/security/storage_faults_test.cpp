// What happens to imports and deletions when the disk fails: T098, T099, T105, T106, T092, T112,
// T114. After every fault the library is started again and must be whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "engine/base/log.h"
#include "tests/security/library_world.h"

using namespace hearth;
using namespace hearth::testing;
namespace fs = std::filesystem;
using library::Placement;
using Kind = FaultDisk::Kind;

namespace {

class StorageFaults : public ::testing::Test {
protected:
    std::string source(const std::string& name, std::size_t size = 1500) {
        return user_file(disk_, place_.home + "/" + name + ".gguf", size);
    }
    static std::vector<std::string> ids(const LibraryWorld& world) {
        std::vector<std::string> list;
        for (const library::Package& package : world.packages()) list.push_back(package.id);
        return list;
    }
    std::vector<std::string> files_of_ours() const {
        std::vector<std::string> names;
        for (const std::string& folder : {place_.folders.models, place_.folders.partial})
            for (const auto& entry : fs::directory_iterator(folder))
                names.push_back(entry.path().string().substr(place_.data.size() + 1));
        std::sort(names.begin(), names.end());
        return names;
    }
    // Every listed model is whole, and nothing else lies in our folders.
    void expect_whole(const LibraryWorld& world) const {
        std::vector<std::string> expected;
        for (const library::Package& package : world.packages()) {
            EXPECT_EQ(library::complaint_about(package), "");
            EXPECT_EQ(hash_of(package.files.front().path), package.files.front().sha256);
            expected.push_back("models/" + library::file_name_for(package.id));
        }
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(files_of_ours(), expected);
        EXPECT_EQ(world.contents().set_aside, "");
    }

    const TempDir folder_;
    const Place place_{folder_.path()};
    FaultDisk disk_{place_.root};
};

using Ids = std::vector<std::string>;

class T112 : public StorageFaults {};
class T114 : public StorageFaults {};
class T098 : public StorageFaults {};
class T099 : public StorageFaults {};
class T105 : public StorageFaults {};
class T106 : public StorageFaults {};
class T092 : public StorageFaults {};

// What this process was told is in the disk's cache may be lost after a failed sync, so the same
// connection must not go on as if it were there.
TEST_F(T112, ASyncThatFailsOnceFailsItsImportAndReopensTheDatabase) {
    bool reopened = false;
    int failed = 0;
    {
        LibraryWorld world(disk_, place_);
        ASSERT_TRUE(world.start());
        ASSERT_TRUE(world.import(source("before"), Placement::copy));
        disk_.set_fault([&](Kind kind, int, const std::string& path) {
            if (failed == 1 && kind == Kind::open && path == place_.database()) reopened = true;
            const bool row = fs::exists(place_.folders.models + "/lost.gguf");
            if (failed > 0 || kind != Kind::sync || !row || !path.ends_with("-wal")) return 0;
            ++failed;
            return EIO;
        });
        const auto lost = world.import(source("lost"), Placement::copy);
        ASSERT_FALSE(lost);
        EXPECT_EQ(lost.error().code, ErrorCode::io_failed);
        EXPECT_EQ(failed, 1);
        EXPECT_TRUE(reopened);
        ASSERT_TRUE(world.import(source("after"), Placement::copy));
        EXPECT_EQ(ids(world), (Ids{"after", "before"}));
    }
    disk_.set_fault({});
    LibraryWorld again(disk_, place_);
    ASSERT_TRUE(again.start());
    EXPECT_EQ(ids(again), (Ids{"after", "before"}));
    expect_whole(again);
}

// One life with a fault: what was acknowledged, and which errors came.
struct Life {
    std::set<std::string> have;
    std::set<std::string> gone;
    std::vector<Error> errors;
};

Life live(FaultDisk& disk, const Place& place) {
    Life life;
    LibraryWorld world(disk, place);
    if (const auto started = world.start(); !started) {
        life.errors.push_back(started.error());
        return life;
    }
    for (const auto& [name, placement] :
         {std::pair{"linked", Placement::hardlink}, std::pair{"copied", Placement::copy}}) {
        const auto imported = world.import(place.home + "/" + name + ".gguf", placement);
        if (imported)
            life.have.insert(name);
        else
            life.errors.push_back(imported.error());
    }
    if (!life.have.contains("linked")) return life;
    life.have.erase("linked");
    if (const auto removed = world.remove("linked"))
        life.gone.insert("linked");
    else
        life.errors.push_back(removed.error());
    return life;
}

TEST_F(T114, TheNthOperationFailsForEveryNAndNothingIsLeftBehind) {
    set_log_sink([](LogLevel, std::string_view) {});
    for (const bool for_good : {false, true}) {
        for (int n = 1;; ++n) {
            SCOPED_TRACE("operation " + std::to_string(n) + (for_good ? " and all later" : ""));
            const TempDir folder;
            const Place place(folder.path());
            FaultDisk disk(place.root);
            for (const char* name : {"linked", "copied"})
                user_file(disk, place.home + "/" + name + ".gguf", 1500);
            bool hit = false;
            disk.set_fault([&](Kind kind, int number, const std::string&) {
                const bool fails = number == n || (for_good && number > n);
                hit = hit || fails;
                return fails ? (kind == Kind::write ? ENOSPC : EIO) : 0;
            });
            const Life life = live(disk, place);
            disk.set_fault({});
            if (!hit) {
                EXPECT_GT(n, 60);
                break;
            }
            for (const Error& error : life.errors) {
                EXPECT_TRUE(error.code == ErrorCode::io_failed ||
                            error.code == ErrorCode::disk_full ||
                            error.code == ErrorCode::bad_input)
                    << to_string(error.code) << ": " << error.message;
                EXPECT_FALSE(error.message.empty());
            }
            LibraryWorld again(disk, place);
            const auto started = again.start();
            ASSERT_TRUE(started) << started.error().message;
            EXPECT_EQ(again.contents().set_aside, "");
            std::set<std::string> there;
            for (const library::Package& package : again.packages()) {
                there.insert(package.id);
                EXPECT_EQ(hash_of(package.files.front().path), package.files.front().sha256);
            }
            for (const std::string& id : life.have) EXPECT_TRUE(there.contains(id)) << id;
            for (const std::string& id : life.gone) EXPECT_FALSE(there.contains(id)) << id;
            EXPECT_EQ(again.recovered().strangers, Ids{});
        }
    }
}

TEST_F(T098, ADiskTooSmallIsSaidBeforeAnythingIsCopiedWithBothFigures) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    disk_.set_free_bytes(2 * 1024 * 1024);
    const auto refused = world.import(source("large", 5 * 1024 * 1024), Placement::copy);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::disk_full);
    EXPECT_NE(refused.error().message.find("needs 5 MiB"), std::string::npos);
    EXPECT_NE(refused.error().message.find("2 MiB are free"), std::string::npos);
    expect_whole(world);
    ASSERT_TRUE(world.import(place_.home + "/large.gguf", Placement::in_place));
}

TEST_F(T098, ADiskThatFillsUpRefusesTheImportAndTheLibraryStartsOnAFullDisk) {
    const auto full = [](Kind kind, int, const std::string&) {
        return kind == Kind::write ? ENOSPC : 0;
    };
    {
        LibraryWorld world(disk_, place_);
        ASSERT_TRUE(world.start());
        ASSERT_TRUE(world.import(source("early"), Placement::copy));
        source("late");
        disk_.set_fault(full);
        const auto refused = world.import(place_.home + "/late.gguf", Placement::copy);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::disk_full);
    }
    {
        LibraryWorld world(disk_, place_);
        const auto started = world.start();
        ASSERT_TRUE(started) << started.error().message;
        EXPECT_EQ(ids(world), Ids{"early"});
        disk_.set_fault({});  // space appears
        ASSERT_TRUE(world.import(place_.home + "/late.gguf", Placement::copy));
        expect_whole(world);
    }
}

TEST_F(T099, EachErrorOfEachOperationHasItsCodeAndASentence) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    const std::string path = source("model");
    for (const int number : {EIO, EDQUOT, EFBIG, EROFS, EACCES, ENOSPC}) {
        for (const Kind kind : {Kind::open, Kind::write, Kind::sync, Kind::rename}) {
            SCOPED_TRACE(std::string(std::strerror(number)) + " at operation of kind " +
                         std::to_string(static_cast<int>(kind)));
            disk_.set_fault([&](Kind asked, int, const std::string& at) {
                const bool in_folders =
                    at.starts_with(place_.folders.models) || at.starts_with(place_.folders.partial);
                return asked == kind && in_folders ? number : 0;
            });
            const auto refused = world.import(path, Placement::copy);
            ASSERT_FALSE(refused);
            const bool no_space = number == EDQUOT || number == ENOSPC;
            EXPECT_EQ(refused.error().code, no_space ? ErrorCode::disk_full : ErrorCode::io_failed);
            EXPECT_NE(refused.error().message.find(std::strerror(number)), std::string::npos);
            EXPECT_NE(refused.error().message.find(place_.data), std::string::npos);
            disk_.set_fault({});
            expect_whole(world);
        }
    }
    ASSERT_TRUE(world.import(path, Placement::copy));
    expect_whole(world);
}

TEST_F(T105, AnIdIsNotGivenAnewBeforeItsOldFileIsGone) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    ASSERT_TRUE(world.import(source("model"), Placement::copy));
    fs::remove(place_.home + "/model.gguf");
    source("model", 1700);  // another content of the same name
    bool removed = false;
    world.remove_later("model", removed);
    const auto imported = world.import(place_.home + "/model.gguf", Placement::copy);
    ASSERT_TRUE(imported);
    world.run_until(removed);
    EXPECT_EQ(ids(world), Ids{imported->package.id});
    expect_whole(world);
}

TEST_F(T105, DeletingAModelLeavesTheFileThatSharesItsContent) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    const std::string path = source("model");
    const std::string hash = hash_of(path);
    ASSERT_TRUE(world.import(path, Placement::hardlink));
    ASSERT_EQ(fs::hard_link_count(path), 2U);
    const library::Descriptor in_use(
        ::open((place_.folders.models + "/model.gguf").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(world.remove("model"));
    EXPECT_EQ(hash_of(path), hash);
    std::array<std::byte, 16> bytes{};  // who has it open still reads it
    EXPECT_EQ(::read(in_use.get(), bytes.data(), bytes.size()), 16);
    expect_whole(world);
}

TEST_F(T106, OnlyWhatWasWrittenDownIsCleanedAndTheRestIsReported) {
    const auto write = [](const std::string& path) { std::ofstream(path) << "x"; };
    {
        auto database = store::Database::open(place_.database());
        ASSERT_TRUE(database);
        ASSERT_TRUE(store::migrate(*database));
        store::LeftoverTable leftovers(*database);
        // Half an import, a deletion that was cut off, and names that a manipulated database has.
        for (const char* name :
             {"half.gguf", "deleted.gguf", "../home/mine.gguf", "/etc/passwd", "notes.txt", ".."})
            ASSERT_TRUE(leftovers.insert(name));
    }
    for (const char* name : {"/partial/half.gguf", "/models/deleted.gguf", "/models/foreign.gguf",
                             "/models/notes.txt", "/partial/other"})
        write(place_.data + name);
    write(place_.home + "/mine.gguf");
    fs::create_symlink(place_.home + "/mine.gguf", place_.folders.models + "/link.gguf");
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    EXPECT_EQ(files_of_ours(), (Ids{"models/foreign.gguf", "models/link.gguf", "models/notes.txt",
                                    "partial/other"}));
    EXPECT_EQ(world.recovered().strangers.size(), 4U);
    EXPECT_TRUE(fs::exists(place_.home + "/mine.gguf"));
    EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(T106, AModelWhoseFileIsGoneIsListedAndSaysWhatToDo) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    ASSERT_TRUE(world.import(source("model"), Placement::copy));
    fs::remove(place_.folders.models + "/model.gguf");
    ASSERT_EQ(ids(world), Ids{"model"});
    EXPECT_NE(library::complaint_about(world.packages()[0]).find("is gone"), std::string::npos);
    EXPECT_TRUE(world.remove("model"));
}

TEST_F(StorageFaults, ANewBuildLooksAgainAtWhatAnotherOneCouldNotRun) {
    {
        LibraryWorld old(disk_, place_);
        ASSERT_TRUE(old.start("old", "the architecture is not supported"));
        ASSERT_TRUE(old.import(source("model"), Placement::copy));
        EXPECT_EQ(old.packages()[0].inspected_by, "old");
        EXPECT_NE(old.packages()[0].unsupported, "");
    }
    for (const int inspections : {1, 0}) {  // once, and it is remembered
        LibraryWorld fresh(disk_, place_);
        ASSERT_TRUE(fresh.start("new"));
        EXPECT_EQ(fresh.inspections(), inspections);
        ASSERT_EQ(ids(fresh), Ids{"model"});
        EXPECT_EQ(fresh.packages()[0].inspected_by, "new");
        EXPECT_EQ(fresh.packages()[0].unsupported, "");
        expect_whole(fresh);
    }
}

// The part of T092 without downloads: what lies in our folders already, and names of users' files.
TEST_F(T092, LinksPlantedInOurFoldersLeadNowhere) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    const std::string victim = place_.home + "/victim";
    std::ofstream(victim) << "precious";
    for (const Placement placement : {Placement::hardlink, Placement::copy}) {
        fs::create_symlink(victim, place_.folders.models + "/model.gguf");
        ASSERT_TRUE(world.import(source("model"), placement));
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(place_.folders.models + "/model.gguf")));
        ASSERT_TRUE(world.remove("model"));
    }
    fs::create_symlink(victim, place_.folders.partial + "/model.gguf");
    EXPECT_FALSE(world.import(source("model"), Placement::copy));
    std::ifstream file(victim);
    std::string text;
    file >> text;
    EXPECT_EQ(text, "precious");
    // And a file of ours that became a link is no longer taken for it.
    fs::remove(place_.folders.partial + "/model.gguf");
    ASSERT_TRUE(world.import(place_.home + "/model.gguf", Placement::copy));
    fs::rename(place_.folders.models + "/model.gguf", place_.home + "/moved");
    fs::create_symlink(place_.home + "/moved", place_.folders.models + "/model.gguf");
    EXPECT_NE(library::complaint_about(world.packages()[0]), "");
}

TEST_F(T092, OddFileNamesGiveSafeNamesOfOurOwn) {
    LibraryWorld world(disk_, place_);
    ASSERT_TRUE(world.start());
    std::size_t size = 1000;
    for (const std::string& name :
         {std::string(".."), std::string("..."), std::string("a\nb"), std::string("-rf"),
          std::string("CON"), std::string(240, 'x'), std::string("\xff\xfe"), std::string("a b")}) {
        const auto imported = world.import(source(name, ++size), Placement::copy);
        ASSERT_TRUE(imported) << imported.error().message;
        EXPECT_TRUE(library::is_valid_id(imported->package.id)) << imported->package.id;
    }
    EXPECT_EQ(world.packages().size(), 8U);
    expect_whole(world);
}

}  // namespace
