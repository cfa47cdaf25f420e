// Models over HTTP: import, list, choose, load, unload, delete.
#include <sys/stat.h>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;
namespace fs = std::filesystem;

namespace {

class LibraryHttpTest : public FakeDaemonTest {
protected:
    std::vector<std::string> ids() const {
        std::vector<std::string> list;
        const auto models = daemon_.client().models();
        EXPECT_TRUE(models);
        for (const auto& model : *models) list.push_back(model.id);
        return list;
    }
    fs::path own_models() const { return daemon_.root() / "DATA/hearth/models"; }
};

using Ids = std::vector<std::string>;

TEST_F(LibraryHttpTest, AnImportedModelIsListedAndAnswers) {
    const std::string path = fake_model_file(daemon_, "fake");
    const auto imported = daemon_.client().import_model({path, "", protocol::Link::automatic});
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_FALSE(imported->existed);
    EXPECT_EQ(imported->model.id, "fake-q4-1");
    EXPECT_EQ(imported->model.state, "ok");
    EXPECT_EQ(imported->model.size, fs::file_size(path));
    EXPECT_TRUE(imported->model.is_default);
    EXPECT_EQ(ids(), Ids{"fake-q4-1"});
    const auto shown = daemon_.client().model("fake");
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->sha256, imported->model.sha256);
    const auto listed = daemon_.client().get("/v1/models");
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->at("data").at(0).at("id").as_string(), "fake-q4-1");
    EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
}

TEST_F(LibraryHttpTest, TheSameContentComesInOnce) {
    const std::string path = fake_model_file(daemon_, "fake");
    fs::copy_file(path, daemon_.root() / "copy.gguf");
    import_fake();
    const auto again = daemon_.client().import_model(
        {daemon_.root() / "copy.gguf", "Another Name", protocol::Link::copy});
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->existed);
    EXPECT_EQ(again->model.id, "fake-q4-1");
    EXPECT_EQ(ids().size(), 1U);
}

TEST_F(LibraryHttpTest, NamesGiveIdsAndDifferentContentsOfOneNameGetNumbers) {
    const std::string first = fake_model_file(daemon_, "one");
    const std::string second = fake_model_file(daemon_, "two");
    EXPECT_EQ(daemon_.import(first, "../My Model"), "my-model");
    EXPECT_EQ(daemon_.import(second, "My Model"), "my-model-2");
    EXPECT_EQ(ids(), (Ids{"my-model", "my-model-2"}));
    EXPECT_TRUE(fs::exists(own_models() / "my-model.gguf"));
    EXPECT_FALSE(fs::exists(own_models() / "../My Model.gguf"));
}

TEST_F(LibraryHttpTest, AmongTwoModelsARequestMustNameOneUntilADefaultIsChosen) {
    daemon_.import(fake_model_file(daemon_, "one"));
    daemon_.import(fake_model_file(daemon_, "two"));
    const auto nameless = daemon_.client().complete(prompt("count 1"));
    ASSERT_FALSE(nameless);
    EXPECT_EQ(nameless.error().code, ErrorCode::not_found);
    auto request = prompt("count 1");
    request.options.model = "two";
    const auto named = daemon_.client().complete(request);
    ASSERT_TRUE(named);
    EXPECT_EQ(named->model, "two-q4-1");
    ASSERT_TRUE(daemon_.client().post("/hearth/v1/models/one-q4-1/default", {}));
    const auto chosen = daemon_.client().complete(prompt("count 1"));
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->model, "one-q4-1");
}

TEST_F(LibraryHttpTest, WhatCannotBeImportedSaysWhy) {
    const std::string fifo = daemon_.root() / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string broken = daemon_.root() / "broken.gguf";
    std::ofstream(broken) << R"({"error":{"code":"model_corrupt","message":"cut short"}})";
    const struct {
        std::string path;
        ErrorCode code;
    } cases[] = {
        {"/nonexistent.gguf", ErrorCode::not_found},
        {fifo, ErrorCode::bad_input},
        {daemon_.root(), ErrorCode::bad_input},
        {broken, ErrorCode::model_corrupt},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.path);
        const auto imported =
            daemon_.client().import_model({c.path, "", protocol::Link::automatic});
        ASSERT_FALSE(imported);
        EXPECT_EQ(imported.error().code, c.code) << imported.error().message;
    }
    EXPECT_TRUE(ids().empty());
    EXPECT_TRUE(fs::is_empty(own_models()));
}

TEST_F(LibraryHttpTest, AFileUsedInPlaceIsWatchedAndNeverDeleted) {
    const std::string path = fake_model_file(daemon_, "fake");
    const auto imported = daemon_.client().import_model({path, "", protocol::Link::in_place});
    ASSERT_TRUE(imported);
    EXPECT_TRUE(imported->model.in_place);
    EXPECT_EQ(imported->model.path, path);
    std::ofstream(path, std::ios::app) << " ";
    EXPECT_EQ(daemon_.client().model("fake")->state, "changed");
    const auto refused = daemon_.client().complete(prompt("count 1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_found);
    EXPECT_NE(refused.error().message.find("not the one that was imported"), std::string::npos);
    ASSERT_TRUE(daemon_.client().remove_model("fake-q4-1"));
    EXPECT_TRUE(fs::exists(path));
    fs::remove(path);
}

TEST_F(LibraryHttpTest, LoadAndUnloadWorkByHand) {
    import_fake();
    EXPECT_FALSE(daemon_.client().model("fake")->loaded);
    const auto loaded = daemon_.client().load("fake");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->state, "ready");
    EXPECT_GT(loaded->pid, 0);
    EXPECT_TRUE(daemon_.client().model("fake")->loaded);
    EXPECT_EQ(daemon_.client().status()->models.size(), 1U);
    ASSERT_TRUE(daemon_.client().unload("fake"));
    EXPECT_TRUE(daemon_.client().status()->models.empty());
}

TEST_F(LibraryHttpTest, ADeletedModelIsGoneFromDiskMemoryAndList) {
    import_fake();
    ASSERT_TRUE(daemon_.client().load("fake"));
    const auto by_half = daemon_.client().remove_model("fake");
    ASSERT_FALSE(by_half);  // a deletion wants the whole id
    EXPECT_NE(by_half.error().message.find("fake-q4-1"), std::string::npos);
    ASSERT_TRUE(daemon_.client().remove_model("fake-q4-1"));
    EXPECT_TRUE(ids().empty());
    EXPECT_TRUE(daemon_.client().status()->models.empty());
    EXPECT_TRUE(fs::is_empty(own_models()));
    EXPECT_TRUE(fs::exists(daemon_.root() / "fake.gguf"));  // the file that was imported stays
}

TEST_F(LibraryHttpTest, ModelsSurviveARestart) {
    import_fake();
    ASSERT_TRUE(daemon_.client().post("/hearth/v1/models/fake-q4-1/default", {}));
    ASSERT_EQ(daemon_.terminate(), 0);
    daemon_.start_again();
    EXPECT_EQ(ids(), Ids{"fake-q4-1"});
    EXPECT_TRUE(daemon_.client().complete(prompt("count 1")));
}

}  // namespace
