// The log of a real daemon: bounded, without texts, and never in the way.
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <thread>

#include "tests/daemon/api/fake_model.h"

using namespace hearth;
using namespace hearth::testing;

namespace {

namespace fs = std::filesystem;

// T130: logs stay small whatever happens, and a log that cannot be written stops nobody.
class T130 : public ::testing::Test {
protected:
    T130() : daemon_({.worker = FAKE_WORKER, .arguments = {"--log-level", "debug"}}) {
        daemon_.import(fake_model_file(daemon_, "fake"));
    }
    fs::path folder() const { return daemon_.root() / "STATE/hearth/logs"; }
    std::uintmax_t bytes() const {
        std::uintmax_t sum = 0;
        for (const auto& file : fs::directory_iterator(folder())) sum += file.file_size();
        return sum;
    }
    // Twenty thousand requests that differ, many on each connection.
    void flood() const {
        std::vector<std::thread> clients;
        for (int client = 0; client < 4; ++client)
            clients.emplace_back([this] {
                auto connection = client::Connection::open(daemon_.socket(), -1);
                ASSERT_TRUE(connection);
                std::string requests;
                for (int i = 0; i < 5000; ++i)
                    requests +=
                        "GET /health?n=" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
                std::thread reader([&] { read_replies(connection->descriptor(), 5000); });
                EXPECT_TRUE(connection->write_all(requests));
                reader.join();
            });
        for (std::thread& one : clients) one.join();
    }
    static void read_replies(int descriptor, int count) {
        std::array<char, 65536> buffer;
        std::string text;
        EXPECT_TRUE(becomes_true([&] {
            const ssize_t got = ::recv(descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
            std::size_t at = text.rfind("HTTP/1.1 ");
            for (; (at = text.find("HTTP/1.1 ")) != std::string::npos; text.erase(0, at + 9))
                --count;
            return count <= 0;
        }));
    }

    RunningDaemon daemon_;
};

TEST_F(T130, RequestsErrorsAndLongOutputsAtDebugLevelStaySmall) {
    flood();
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(daemon_.client()
                      .send({.method = "GET", .target = "/nothing/" + std::to_string(i)})
                      ->status,
                  404);
        protocol::CompletionRequest refused;
        refused.prompts = {"refuse"};
        EXPECT_FALSE(daemon_.client().complete(refused));
    }
    protocol::CompletionRequest request;
    request.prompts = {"count 100000"};
    const auto ended = daemon_.client().complete(request, [](const auto&) { return true; });
    EXPECT_TRUE(ended);
    EXPECT_EQ(daemon_.terminate(), 0);
    EXPECT_LT(bytes(), 200'000U);
    const std::string log = daemon_.log();
    EXPECT_NE(log.find("GET /health 200 "), std::string::npos) << log;
    EXPECT_NE(log.find(" more like it: GET /health 200 "), std::string::npos) << log;
    EXPECT_EQ(log.find("count 100000"), std::string::npos);
    EXPECT_EQ(log.find("?n="), std::string::npos) << "no query";
    daemon_.start_again();
}

TEST_F(T130, APromptIsLoggedOnlyWhereTheUserAsksForIt) {
    protocol::CompletionRequest request;
    request.prompts = {"count 2 in\nconfidence"};
    ASSERT_TRUE(daemon_.client().complete(request));
    EXPECT_EQ(daemon_.log().find("confidence"), std::string::npos);
    RunningDaemon asked({.worker = FAKE_WORKER, .arguments = {"--log-prompts", "on"}});
    asked.import(fake_model_file(asked, "fake"));
    ASSERT_TRUE(asked.client().complete(request));
    EXPECT_NE(asked.log().find("prompt: {\"prompt\":\"count 2 in\\nconfidence"), std::string::npos)
        << asked.log();
    EXPECT_EQ(daemon_.run_another({"--log-prompts", "perhaps"}), 2);
}

TEST_F(T130, AFullDiskIsSaidInTheStatusAndStopsNobody) {
    EXPECT_EQ(daemon_.client().status()->log, "");
    ASSERT_EQ(daemon_.terminate(), 0);
    fs::remove(folder() / "hearthd.log");
    fs::create_symlink("/dev/full", folder() / "hearthd.log");
    daemon_.start_again();
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    EXPECT_NE(status->log.find("hearthd.log"), std::string::npos) << status->log;
    protocol::CompletionRequest request;
    request.prompts = {"count 3"};
    EXPECT_TRUE(daemon_.client().complete(request));
}

TEST_F(T130, AFolderThatCannotBeMadeIsSaidInTheStatusAndStopsNobody) {
    ASSERT_EQ(daemon_.terminate(), 0);
    fs::remove_all(folder());
    std::ofstream(folder()) << "not a folder";
    daemon_.start_again();
    const auto status = daemon_.client().status();
    ASSERT_TRUE(status);
    EXPECT_NE(status->log.find("STATE/hearth/logs"), std::string::npos) << status->log;
    EXPECT_EQ(daemon_.terminate(), 0);
    fs::remove(folder());
    daemon_.start_again();
}

TEST_F(T130, TheFilesTogetherStayUnderFiftyMebibytes) {
    ASSERT_EQ(daemon_.terminate(), 0);
    // As if it had been at work for years.
    const std::string line(1023, 'x');
    for (const char* name :
         {"hearthd.log", "hearthd.1.log", "hearthd.2.log", "hearthd.3.log", "hearthd.4.log"}) {
        std::ofstream file(folder() / name);
        for (int i = 0; i < 10'240; ++i) file << line << '\n';
    }
    daemon_.start_again();  // which logs, so it must make room
    ASSERT_EQ(daemon_.terminate(), 0);
    EXPECT_LE(bytes(), 50U << 20U);
    EXPECT_LT(fs::file_size(folder() / "hearthd.log"), 10'000U);
    EXPECT_FALSE(fs::exists(folder() / "hearthd.5.log"));
    daemon_.start_again();
}

}  // namespace
