// T097: a power cut at any step of an import or a deletion leaves the model installed and whole, or
// absent. The check is itself checked: with any one sync of the file layer left out, it fails.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>

#include "daemon/store/database.h"
#include "tests/security/library_world.h"

using namespace hearth;
using namespace hearth::testing;
namespace fs = std::filesystem;
using library::Placement;

namespace {

using Choices = std::vector<std::uint32_t>;  // disk_image.h

void scenario(FaultDisk& disk, const Place& place) {
    LibraryWorld world(disk, place);
    ASSERT_TRUE(world.start());
    const auto bring = [&](const char* name, Placement placement) {
        disk.acknowledge(std::string("either ") + name);
        const std::string path = user_file(disk, place.home + "/" + name + ".gguf", 1500);
        const auto imported = world.import(path, placement);
        ASSERT_TRUE(imported) << imported.error().message;
        disk.acknowledge(std::string("have ") + name);
    };
    bring("linked", Placement::hardlink);
    bring("copied", Placement::copy);
    bring("placed", Placement::in_place);
    for (const char* name : {"copied", "linked"}) {
        disk.acknowledge(std::string("either ") + name);
        const auto removed = world.remove(name);
        ASSERT_TRUE(removed) << removed.error().message;
        disk.acknowledge(std::string("gone ") + name);
    }
    bring("copied", Placement::copy);  // the name comes back
}

// Empty when all is as promised.
std::string wrong_after(FaultDisk& disk, const Place& place, std::size_t steps,
                        std::uint32_t choice) {
    std::map<std::string, std::string> promised;  // id → "have", "either", "gone"
    for (const std::string& promise : disk.power_cut(steps, choice))
        promised[promise.substr(promise.find(' ') + 1)] = promise.substr(0, promise.find(' '));
    LibraryWorld world(disk, place);
    if (const auto started = world.start(); !started) return started.error().message;
    if (!world.contents().set_aside.empty()) return "the database was damaged";
    std::set<std::string> there;
    std::set<std::string> owned;
    for (const library::Package& package : world.packages()) {
        there.insert(package.id);
        const library::PackageFile& file = package.files.front();
        owned.insert(file.path);
        if (!library::complaint_about(package).empty()) return library::complaint_about(package);
        if (hash_of(file.path) != file.sha256) return package.id + " has another content";
    }
    for (const auto& [id, promise] : promised) {
        if (promise == "have" && !there.contains(id)) return id + " was acknowledged and is gone";
        if (promise == "gone" && there.contains(id)) return id + " was deleted and is back";
    }
    for (const std::string& folder : {place.folders.models, place.folders.partial})
        for (const auto& entry : fs::directory_iterator(folder))
            if (!owned.contains(entry.path())) return entry.path().string() + " was left";
    return {};
}

// The first thing that is wrong, over all steps and choices; empty: nothing.
std::string first_wrong(FaultDisk& disk, const Place& place, const Choices& choices) {
    for (std::size_t steps = disk.skipped_step(); steps <= disk.steps(); ++steps)
        for (const std::uint32_t choice : choices)
            if (const std::string wrong = wrong_after(disk, place, steps, choice); !wrong.empty())
                return wrong + " (step " + std::to_string(steps) + ", choice " +
                       std::to_string(choice) + ")";
    return {};
}

TEST(T097, APowerCutAtAnyStepOfImportAndDeleteLeavesModelsWholeOrAbsent) {
    const TempDir folder;
    const Place place(folder.path());
    FaultDisk disk(place.root);
    scenario(disk, place);
    RecordProperty("steps", static_cast<int>(disk.steps()));
    EXPECT_GT(disk.steps(), 60U);
    EXPECT_EQ(first_wrong(disk, place, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "");
}

// Every sync of the file layer is there for a reason: without any one of them some cut breaks a
// promise, and the test above would say so.
TEST(T097, TheCheckFailsWhenAnyOneSyncOfTheFileLayerIsLeftOut) {
    std::size_t checked = 0;
    for (int number = 0;; ++number) {
        const TempDir folder;
        const Place place(folder.path());
        FaultDisk disk(place.root);
        disk.skip_sync(number);
        scenario(disk, place);
        if (static_cast<std::size_t>(number) >= disk.syncs().size()) break;
        const std::string name = disk.syncs()[static_cast<std::size_t>(number)];
        if (name == place.data || name.starts_with(place.database())) continue;  // SQLite's: T111
        EXPECT_NE(first_wrong(disk, place, {1, 2, 4, 5, 6, 7, 8, 9}), "")
            << "sync " << number << " of " << name;
        ++checked;
    }
    // Link: file, folder. Copies: file and two folders each. In place: file, folder. Deletions: one
    // folder each.
    EXPECT_EQ(checked, 12U);
}

}  // namespace
