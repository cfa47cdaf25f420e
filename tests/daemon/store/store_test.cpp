// What is stored comes back, from one process at a time, and never from a newer layout.
#include "daemon/store/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>

#include "daemon/store/database.h"
#include "daemon/store/migrations.h"
#include "daemon/store/model_table.h"
#include "daemon/store/settings_table.h"
#include "tests/support/paths.h"

using namespace hearth;
using namespace hearth::store;

namespace {

library::Package sample(const std::string& id) {
    library::Package package;
    package.id = id;
    package.name = "A 'name' with \"quotes\"";
    package.added = 1'700'000'000;
    package.kind = "model";
    package.architecture = "llama";
    package.quantization = "Q4_1";
    package.context = 2048;
    package.parameters = 1ULL << 40U;
    package.has_chat_template = true;
    package.unsupported = "because";
    package.files = {{"/a", {123, 456}, std::string(64, 'a'), false},
                     {"/b", {1ULL << 41U, -1}, std::string(64, 'b'), true}};
    return package;
}

class StoreTest : public ::testing::Test {
protected:
    static std::unique_ptr<Store> open(const std::string& path) {
        auto store = Store::open(path, [](const Task& task) { task(); });
        EXPECT_TRUE(store) << store.error().message;
        return store ? *std::move(store) : nullptr;
    }
    // Runs one call of the store and waits for its answer.
    template <typename Call>
    static Result<void> wait_for(Call call) {
        std::promise<Result<void>> answer;
        call([&](Result<void> result) { answer.set_value(std::move(result)); });
        return answer.get_future().get();
    }

    const hearth::testing::TempDir folder_;
    const std::string path_ = folder_.file("hearth.db");
};

TEST_F(StoreTest, PackagesAndSettingsAreThereAfterAReopening) {
    {
        const auto store = open(path_);
        ASSERT_TRUE(wait_for([&](auto done) { store->add_package(sample("a"), done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->add_package(sample("b"), done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->remove_package("b", done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->set_setting("k", "1", done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->set_setting("k", "2", done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->set_setting("gone", "x", done); }));
        ASSERT_TRUE(wait_for([&](auto done) { store->erase_setting("gone", done); }));
    }
    const auto store = open(path_);
    const Contents& contents = store->contents_at_start();
    ASSERT_EQ(contents.packages.size(), 1U);
    const library::Package& got = contents.packages[0];
    const library::Package sent = sample("a");
    EXPECT_EQ(got.id, sent.id);
    EXPECT_EQ(got.name, sent.name);
    EXPECT_EQ(got.added, sent.added);
    EXPECT_EQ(got.context, sent.context);
    EXPECT_EQ(got.parameters, sent.parameters);
    EXPECT_EQ(got.has_chat_template, sent.has_chat_template);
    EXPECT_EQ(got.unsupported, sent.unsupported);
    ASSERT_EQ(got.files.size(), 2U);
    EXPECT_EQ(got.files[1].path, "/b");
    EXPECT_EQ(got.files[1].identity, sent.files[1].identity);
    EXPECT_TRUE(got.files[1].in_place);
    EXPECT_EQ(contents.settings, (std::map<std::string, std::string>{{"k", "2"}}));
}

TEST_F(StoreTest, AnIdIsTakenOnce) {
    const auto store = open(path_);
    ASSERT_TRUE(wait_for([&](auto done) { store->add_package(sample("a"), done); }));
    const auto again = wait_for([&](auto done) { store->add_package(sample("a"), done); });
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::bad_input);
    const auto absent = wait_for([&](auto done) { store->remove_package("b", done); });
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, ErrorCode::not_found);
}

TEST_F(StoreTest, ASecondUserOfTheFileIsRefused) {
    const auto store = open(path_);
    const auto second = Store::open(path_, [](const Task& task) { task(); });
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::busy);
    EXPECT_NE(second.error().message.find(path_), std::string::npos);
}

TEST_F(StoreTest, ANewerLayoutIsRefusedAndLeftAlone) {
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->run("PRAGMA user_version = 999"));
    }
    const auto store = Store::open(path_, [](const Task& task) { task(); });
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::unsupported_version);
}

TEST_F(StoreTest, TheFileIsOursAlone) {
    open(path_);
    struct stat info{};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(StoreTest, ATransactionThatIsNotCommittedLeavesNothing) {
    auto database = Database::open(path_);
    ASSERT_TRUE(database);
    ASSERT_TRUE(migrate(*database));
    {
        auto transaction = Transaction::begin(*database);
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(SettingsTable(*database).set("a", "1"));
    }
    EXPECT_TRUE(SettingsTable(*database).all()->empty());
}

TEST_F(StoreTest, AFullThreadAnswersBusy) {
    std::promise<void> entered;
    std::promise<void> release;
    std::vector<ErrorCode> answers;
    {
        TaskThread thread("test", 1, [](const Task& task) { task(); });
        ASSERT_TRUE(thread.put([&] {
            entered.set_value();
            release.get_future().wait();
        }));
        entered.get_future().wait();
        ASSERT_TRUE(thread.put([] {}));
        thread.run<int>([]() -> Result<int> { return 1; },
                        [&](const Result<int>& result) { answers.push_back(result.error().code); });
        release.set_value();
    }
    EXPECT_EQ(answers, std::vector{ErrorCode::busy});
}

}  // namespace
