// A real hearthd that is killed (T110), that meets another one on its data (T117), that finds its
// database damaged (T115), whose folders are in odd places (T127) and must be closed to others
// (T126).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "daemon/store/database.h"
#include "ipc/protocol/version.h"
#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::set<std::string>;

class StorageDaemon : public FakeDaemonTest {
protected:
    void kill_and_wait() const {
        ::kill(daemon_.pid(), SIGKILL);
        ::waitpid(daemon_.pid(), nullptr, 0);
    }
    Ids ids() const {
        Ids list;
        const auto models = daemon_.client().models();
        EXPECT_TRUE(models);
        if (models)
            for (const auto& model : *models) list.insert(model.id);
        return list;
    }
    fs::path data() const { return daemon_.root() / "DATA/hearth"; }
};

class T110 : public StorageDaemon {
protected:
    // What was promised, and what was asked for and not answered.
    struct Promises {
        std::mutex mutex;
        Ids have;
        Ids open;
    };

    // Imports and deletes until the daemon is gone.
    void work(int number, std::atomic<int>& next, Promises& promises) const {
        const client::Client client(daemon_.socket());
        for (;;) {
            const std::string id = "m" + std::to_string(next++);
            const auto link = number % 2 == 0 ? protocol::Link::copy : protocol::Link::hardlink;
            const std::string path = fake_model_file(daemon_, id);
            note(promises, id);
            const auto imported = client.import_model({path, id, link});
            if (!imported) return;
            settle(promises, id, true);
            if (next % 3 == 0) continue;
            note(promises, id);
            if (!client.remove_model(id)) return;
            settle(promises, id, false);
        }
    }
    static void note(Promises& promises, const std::string& id) {
        const std::lock_guard lock(promises.mutex);
        promises.have.erase(id);
        promises.open.insert(id);
    }
    static void settle(Promises& promises, const std::string& id, bool is_there) {
        const std::lock_guard lock(promises.mutex);
        promises.open.erase(id);
        if (is_there) promises.have.insert(id);
    }

    // The database as the killed daemon left it, without opening it: that would repair it.
    void expect_sound_database() const {
        const fs::path copy = daemon_.root() / "copy";
        fs::remove_all(copy);
        fs::create_directory(copy);
        for (const char* name : {"hearth.db", "hearth.db-wal"})
            if (fs::exists(data() / name)) fs::copy_file(data() / name, copy / name);
        auto database = store::Database::open(copy / "hearth.db");
        ASSERT_TRUE(database) << database.error().message;
        for (const char* sql : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
            auto statement = database->prepare(sql);
            ASSERT_TRUE(statement);
            const auto row = statement->step();
            ASSERT_TRUE(row);
            EXPECT_TRUE(!*row || statement->text(0) == "ok") << statement->text(0);
        }
    }

    void expect_what_was_promised(Promises& promises) const {
        const Ids there = ids();
        for (const std::string& id : promises.have)
            EXPECT_TRUE(there.contains(id)) << id << " was acknowledged and is gone";
        for (const std::string& id : there)
            EXPECT_TRUE(promises.have.contains(id) || promises.open.contains(id))
                << id << " was deleted and is back";
        std::set<fs::path> expected;
        for (const std::string& id : there) expected.insert(data() / "models" / (id + ".gguf"));
        std::set<fs::path> found;
        for (const char* folder : {"models", "partial"})
            for (const auto& entry : fs::directory_iterator(data() / folder))
                found.insert(entry.path());
        EXPECT_EQ(found, expected);
        for (const std::string& id : there) EXPECT_EQ(daemon_.client().model(id)->state, "ok");
        promises.have = there;
        promises.open.clear();
    }
};

// 50 times here; HEARTH_TEST_KILLS asks for more.
TEST_F(T110, WhatWasAcknowledgedSurvivesKillNine) {
    const char* asked = std::getenv("HEARTH_TEST_KILLS");
    const int kills = asked != nullptr ? std::atoi(asked) : 50;
    std::mt19937 random(110);
    std::atomic<int> next = 0;
    Promises promises;
    for (int round = 0; round < kills; ++round) {
        SCOPED_TRACE(round);
        const int goal = next + std::uniform_int_distribution<int>(1, 12)(random);
        std::vector<std::thread> workers;
        for (int i = 0; i < 2; ++i) workers.emplace_back([&, i] { work(i, next, promises); });
        EXPECT_TRUE(becomes_true([&] { return next >= goal; }));
        kill_and_wait();
        for (std::thread& worker : workers) worker.join();
        expect_sound_database();
        daemon_.start_again();
        expect_what_was_promised(promises);
        if (HasFailure()) return;
    }
    EXPECT_GT(next, kills);
}

// Starts hearthd in an environment of its own and reads what it says on stderr.
struct Launch {
    int exit_code = -1;
    std::string errors;
};
Launch launch(std::vector<std::string> environment, const fs::path& scratch) {
    std::vector<std::string> words = {HEARTH_BIN_DIR "/hearthd", "--worker", FAKE_WORKER};
    const auto pointers = [](std::vector<std::string>& list) {
        std::vector<char*> out;
        for (std::string& word : list) out.push_back(word.data());
        out.push_back(nullptr);
        return out;
    };
    const std::string errors = scratch / "errors";
    fs::remove(errors);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                            pointers(environment).data()),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
    // One that starts instead of refusing is ended, and its exit code says so.
    int status = 0;
    if (!becomes_true([&] { return ::waitpid(pid, &status, WNOHANG) == pid; })) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, &status, 0);
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_of(errors)};
}

std::vector<std::string> environment_in(const fs::path& root) {
    return {"HOME=" + root.string(),
            "XDG_RUNTIME_DIR=" + (root / "run").string(),
            "XDG_CONFIG_HOME=" + (root / "CONFIG").string(),
            "XDG_DATA_HOME=" + (root / "DATA").string(),
            "XDG_STATE_HOME=" + (root / "STATE").string(),
            "XDG_CACHE_HOME=" + (root / "CACHE").string()};
}

class T117 : public StorageDaemon {};

TEST_F(T117, ASecondDaemonOnTheSameDataSaysWhoHasItAndWhere) {
    import_fake();
    const TempDir elsewhere;
    auto environment = environment_in(daemon_.root());
    environment[1] = "XDG_RUNTIME_DIR=" + elsewhere.path().string();
    environment[4] = "XDG_STATE_HOME=" + elsewhere.file("state");
    const auto before = Clock::now();
    const Launch second = launch(environment, elsewhere.path());
    EXPECT_LT(Clock::now() - before, std::chrono::seconds(kSanitized ? 10 : 1));
    EXPECT_EQ(second.exit_code, protocol::kExitAlreadyRunning);
    EXPECT_NE(second.errors.find(daemon_.socket()), std::string::npos) << second.errors;
    EXPECT_NE(second.errors.find(std::to_string(daemon_.pid())), std::string::npos);
    EXPECT_FALSE(fs::exists(elsewhere.path() / "hearth/hearth.sock"));
    EXPECT_EQ(ids(), Ids{"fake-q4-1"});  // the first one has not noticed
}

class T115 : public StorageDaemon {};

TEST_F(T115, ADamagedDatabaseIsMovedAsideAndTheModelsComeBack) {
    const std::string hash =
        daemon_.client()
            .import_model({fake_model_file(daemon_, "fake"), "", protocol::Link::copy})
            ->model.sha256;
    ASSERT_EQ(daemon_.terminate(), 0);
    std::ofstream(data() / "hearth.db") << "this is no database, and longer than a header of 100 "
                                           "bytes, which is the least that SQLite looks at twice";
    const std::string damaged = text_of(data() / "hearth.db");
    daemon_.start_again();
    EXPECT_TRUE(becomes_true([&] { return ids() == Ids{"fake-q4-1"}; }));
    EXPECT_EQ(daemon_.client().model("fake-q4-1")->sha256, hash);
    EXPECT_FALSE(daemon_.client().model("fake-q4-1")->in_place);
    EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    ASSERT_EQ(status->notes.size(), 1U);
    EXPECT_NE(status->notes[0].find("was damaged and lies at"), std::string::npos);
    EXPECT_NE(daemon_.log().find("was damaged"), std::string::npos);
    int kept = 0;
    for (const auto& entry : fs::directory_iterator(data()))
        if (entry.path().filename().string().starts_with("hearth.db.damaged-2")) {
            ++kept;
            EXPECT_EQ(text_of(entry.path()), damaged);
        }
    EXPECT_EQ(kept, 1);
    ASSERT_EQ(daemon_.terminate(), 0);  // and the next start has nothing to say
    daemon_.start_again();
    EXPECT_TRUE(daemon_.client().status()->notes.empty());
    EXPECT_EQ(ids(), Ids{"fake-q4-1"});
}

class T105 : public StorageDaemon {};

// Row, then file, then worker: nothing new can start, and whoever is being answered is told.
TEST_F(T105, DeletingAModelThatAnswersEndsTheAnswerAndLeavesNothing) {
    import_fake();
    Result<protocol::Reply> answer = Error{ErrorCode::internal, "none"};
    std::thread asker([&] { answer = daemon_.client().complete(prompt("silent")); });
    EXPECT_TRUE(becomes_true([&] {
        const auto status = daemon_.client().status();
        return status && status->running == 1 && !status->models.empty();
    }));
    const auto removed = daemon_.client().remove_model("fake-q4-1");
    EXPECT_TRUE(removed) << removed.error().message;
    asker.join();
    EXPECT_FALSE(answer);
    EXPECT_EQ(ids(), Ids{});
    EXPECT_TRUE(fs::is_empty(data() / "models"));
    EXPECT_TRUE(becomes_true([&] { return daemon_.client().status()->models.empty(); }));
    const auto gone = daemon_.client().complete(prompt("count 1"));
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, ErrorCode::not_found);
}

class T126 : public StorageDaemon {};

// The part of T126 without conversations.
TEST_F(T126, EverythingOfOursIsClosedToOthers) {
    ASSERT_TRUE(daemon_.client().import_model(
        {fake_model_file(daemon_, "fake"), "", protocol::Link::copy}));
    ASSERT_TRUE(daemon_.client().complete(prompt("count 1")));
    int looked_at = 0;
    for (const char* top : {"run/hearth", "CONFIG/hearth", "DATA/hearth", "STATE/hearth"}) {
        if (!fs::exists(daemon_.root() / top)) continue;
        std::vector<fs::path> paths = {daemon_.root() / top};
        for (const auto& entry : fs::recursive_directory_iterator(daemon_.root() / top))
            paths.push_back(entry.path());
        for (const fs::path& path : paths) {
            struct stat info{};
            ASSERT_EQ(::lstat(path.c_str(), &info), 0);
            EXPECT_EQ(info.st_mode & 0777U, S_ISDIR(info.st_mode) ? 0700U : 0600U) << path;
            EXPECT_EQ(info.st_uid, ::geteuid()) << path;
            ++looked_at;
        }
    }
    EXPECT_GT(looked_at, 8);
}

class T127 : public StorageDaemon {};

TEST_F(T127, FoldersWithSpacesAndLineBreaksWork) {
    import_fake();
    ASSERT_EQ(daemon_.terminate(), 0);
    const TempDir folder;
    const fs::path root = folder.path() / "a b\nc\xff";
    fs::create_directory(root);
    auto environment = environment_in(root);
    // It ends by itself when asked at once: another thread asks as soon as it answers.
    const client::Client client(root / "run/hearth/hearth.sock");
    std::thread asker([&] {
        EXPECT_TRUE(becomes_true([&] { return client.answers(); }));
        EXPECT_TRUE(client.post("/hearth/v1/shutdown", {}));
    });
    const Launch odd = launch(environment, folder.path());
    asker.join();
    EXPECT_EQ(odd.exit_code, 0) << odd.errors;
    EXPECT_TRUE(fs::exists(root / "DATA/hearth/hearth.db"));
}

TEST_F(T127, APlaceThatCannotBeUsedIsNamed) {
    ASSERT_EQ(daemon_.terminate(), 0);
    const TempDir folder;
    const std::string file = folder.file("file");
    std::ofstream(file) << "x";
    const struct {
        int index;
        std::string variable;
        std::string words;
    } cases[] = {
        {3, "XDG_DATA_HOME=" + file, file},
        {3, "XDG_DATA_HOME=/proc/hearth", "/proc/hearth"},
        {1, "XDG_RUNTIME_DIR=/" + std::string(120, 'r'), "107 bytes"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.variable);
        auto environment = environment_in(folder.path() / "root");
        environment[static_cast<std::size_t>(c.index)] = c.variable;
        const Launch refused = launch(environment, folder.path());
        EXPECT_GT(refused.exit_code, 0);
        EXPECT_NE(refused.errors.find(c.words), std::string::npos) << refused.errors;
    }
    if (::geteuid() != 0) return;  // only root can make a folder that belongs to somebody else
    const fs::path theirs = folder.path() / "theirs/hearth";
    fs::create_directories(theirs);
    ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
    auto environment = environment_in(folder.path() / "root");
    environment[3] = "XDG_DATA_HOME=" + (folder.path() / "theirs").string();
    const Launch refused = launch(environment, folder.path());
    EXPECT_GT(refused.exit_code, 0);
    EXPECT_NE(refused.errors.find("belongs to another user"), std::string::npos);
}

TEST_F(T127, ARelativeVariableIsIgnoredForTheHomeFolder) {
    ASSERT_EQ(daemon_.terminate(), 0);
    const TempDir folder;
    auto environment = environment_in(folder.path());
    environment[3] = "XDG_DATA_HOME=relative/path";
    const client::Client client(folder.path() / "run/hearth/hearth.sock");
    std::thread asker([&] {
        EXPECT_TRUE(becomes_true([&] { return client.answers(); }));
        EXPECT_TRUE(client.post("/hearth/v1/shutdown", {}));
    });
    EXPECT_EQ(launch(environment, folder.path()).exit_code, 0);
    asker.join();
    EXPECT_TRUE(fs::exists(folder.path() / ".local/share/hearth/hearth.db"));
}

}  // namespace
