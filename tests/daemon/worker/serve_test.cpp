// The real worker with a tiny model, through the daemon's side.
#include <gmock/gmock.h>
#include <signal.h>

#include <list>
#include <set>

#include "daemon/generate/generations.h"
#include "tests/daemon/supervise/harness.h"

using namespace hearth;
using hearth::supervise::run_until;
using testing::HasSubstr;

namespace {

const std::string kTiny = HEARTH_SOURCE_DIR "/tests/data/models/tiny-llama.gguf";

struct Client : generate::Subscriber {
    void on_accepted(generate::Accepted got) override { accepted = std::move(got); }
    void on_delta(wire::Delta delta) override {
        text += delta.text;
        ids.insert(ids.end(), delta.ids.begin(), delta.ids.end());
        logprobs.insert(logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
        if (generations != nullptr) generations->consumed(number, 1);
    }
    void on_done(wire::Done got) override { done = std::move(got); }
    void on_error(Error got) override { error = std::move(got); }
    bool is_over() const { return done || error; }

    generate::Generations* generations = nullptr;
    std::uint64_t number = 0;
    std::optional<generate::Accepted> accepted;
    std::string text;
    std::vector<std::int32_t> ids;
    std::vector<wire::PickedLogprob> logprobs;
    std::optional<wire::Done> done;
    std::optional<Error> error;
};

class ServeTest : public testing::Test {
protected:
    static supervise::Config config() {
        supervise::Config config;
        config.worker_path = HEARTH_WORKER;
        return config;
    }
    static wire::Generate request(std::vector<std::int32_t> ids, int max_tokens,
                                  std::uint64_t seed) {
        wire::Generate message;
        message.prompt = wire::IdsPrompt{std::move(ids)};
        message.max_tokens = max_tokens;
        message.ignore_end = true;
        message.sampling.seed = seed;
        return message;
    }
    Client& start(wire::Generate message, const std::string& path = kTiny) {
        Client& client = clients_.emplace_back();
        client.generations = &generations_;
        supervise::ModelFile model{.id = "tiny", .path = path, .options = {}};
        model.options.threads = 1;
        client.number = generations_.start({.model = model, .request = std::move(message)}, client);
        return client;
    }
    bool wait_for(const Client& client) {
        return run_until(io_, [&] { return client.is_over(); });
    }
    std::vector<supervise::LoadedModel> list() {
        std::optional<std::vector<supervise::LoadedModel>> models;
        supervisor_.list([&](auto got) { models = std::move(got); });
        EXPECT_TRUE(run_until(io_, [&] { return models.has_value(); }));
        return *models;
    }

    boost::asio::io_context io_;
    supervise::Supervisor supervisor_{io_, config()};
    generate::Generations generations_{io_, supervisor_};
    std::list<Client> clients_;
};

TEST_F(ServeTest, AnAnswerStreamsWithIdsTimingsAndTheSeedDecidesIt) {
    Client& first = start(request({3, 4, 5}, 20, 1));
    ASSERT_TRUE(wait_for(first));
    ASSERT_TRUE(first.done) << first.error->message;
    EXPECT_EQ(first.accepted->prompt_ids, (std::vector<std::int32_t>{3, 4, 5}));
    EXPECT_EQ(first.accepted->model.architecture, "llama");
    EXPECT_EQ(first.ids.size(), 20U);
    EXPECT_EQ(first.done->reason, wire::FinishReason::length);
    EXPECT_EQ(first.done->timings.prompt_tokens, 3);
    EXPECT_EQ(first.done->timings.generated_tokens, 20);
    Client& again = start(request({3, 4, 5}, 20, 1));
    Client& other = start(request({3, 4, 5}, 20, 2));
    ASSERT_TRUE(wait_for(again) && wait_for(other));
    EXPECT_EQ(again.ids, first.ids);
    EXPECT_NE(other.ids, first.ids);
}

TEST_F(ServeTest, ConcurrentAnswersEqualThoseOneByOne) {
    std::vector<std::vector<std::int32_t>> alone;
    for (std::uint64_t i = 0; i < 6; ++i) {
        Client& client = start(request({static_cast<std::int32_t>(i) + 1, 9}, 30, i));
        ASSERT_TRUE(wait_for(client));
        alone.push_back(client.ids);
    }
    std::vector<Client*> together;
    for (std::uint64_t i = 0; i < 6; ++i) {
        together.push_back(&start(request({static_cast<std::int32_t>(i) + 1, 9}, 30, i)));
    }
    for (std::size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(wait_for(*together[i]));
        EXPECT_EQ(together[i]->ids, alone[i]) << i;
    }
}

TEST_F(ServeTest, LogprobsComeWhenAskedFor) {
    wire::Generate message = request({3, 4}, 5, 1);
    message.logprobs = 3;
    Client& client = start(message);
    ASSERT_TRUE(wait_for(client));
    ASSERT_EQ(client.logprobs.size(), 5U);
    for (const wire::PickedLogprob& picked : client.logprobs) {
        EXPECT_LE(picked.logprob, 0.0F);
        ASSERT_EQ(picked.top.size(), 3U);
        EXPECT_GE(picked.top[0].logprob, picked.top[1].logprob);
    }
}

TEST_F(ServeTest, ACancelledAnswerFreesItsPlace) {
    Client& client = start(request({3, 4}, 100, 1));
    client.generations = nullptr;  // does not read, so it cannot end before it is cancelled
    EXPECT_TRUE(run_until(io_, [&] { return !client.ids.empty(); }));
    generations_.cancel(client.number);
    EXPECT_TRUE(run_until(io_, [&] {
        const auto models = list();
        return models[0].generations == 0 && models[0].stats.running == 0;
    }));
    EXPECT_FALSE(client.is_over());
    const auto models = list();
    EXPECT_EQ(models[0].stats.pages_free, models[0].stats.pages_total);
}

TEST_F(ServeTest, APromptLongerThanTheContextIsRefusedWithBothNumbers) {
    Client& client = start(request(std::vector<std::int32_t>(100'000, 3), 5, 1));
    ASSERT_TRUE(wait_for(client));
    ASSERT_TRUE(client.error);
    EXPECT_EQ(client.error->code, ErrorCode::context_exceeded);
    EXPECT_THAT(client.error->message, HasSubstr("100000"));
    EXPECT_THAT(client.error->message, HasSubstr(std::to_string(list()[0].info.context)));
}

TEST_F(ServeTest, AFileThatIsNoModelIsAnErrorOfItsOwnKind) {
    Client& client = start(request({1}, 5, 1), HEARTH_SOURCE_DIR "/CMakeLists.txt");
    ASSERT_TRUE(wait_for(client));
    ASSERT_TRUE(client.error);
    EXPECT_EQ(client.error->code, ErrorCode::unsupported_format);
}

TEST_F(ServeTest, TheWorkerIsConfinedAndHoldsNoFileOpen) {
    Client& client = start(request({3}, 1, 1));
    ASSERT_TRUE(wait_for(client));
    const auto models = list();
    EXPECT_TRUE(models[0].sandbox.seccomp);
    EXPECT_TRUE(models[0].sandbox.no_new_privileges);
    EXPECT_TRUE(models[0].sandbox.landlock > 0 || !models[0].sandbox.missing.empty());
    const std::string proc = "/proc/" + std::to_string(models[0].pid);
    std::set<std::string> open;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd", failed)) {
        open.insert(entry.path().filename());
    }
    // A worker is closed to other programs of its user (T160); root sees it.
    if (geteuid() == 0) {
        EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", "3"}));
    } else {
        EXPECT_EQ(failed, std::errc::permission_denied);
    }
    std::ifstream status(proc + "/status");
    const std::string text((std::istreambuf_iterator<char>(status)), {});
    EXPECT_THAT(text, HasSubstr("Seccomp:\t2"));
    EXPECT_THAT(text, HasSubstr("NoNewPrivs:\t1"));
}

TEST_F(ServeTest, AKilledWorkerIsReplacedAndItsAnswersGoOnAsIfNothingWere) {
    Client& before = start(request({3, 4, 5}, 100, 7));
    ASSERT_TRUE(wait_for(before));
    const int pid = list()[0].pid;
    Client& victim = start(request({3, 4, 5}, 100, 7));
    victim.generations = nullptr;  // so that it cannot be through before the kill
    EXPECT_TRUE(run_until(io_, [&] { return !victim.ids.empty(); }));
    kill(pid, SIGKILL);
    victim.generations = &generations_;
    generations_.consumed(victim.number, 64);
    ASSERT_TRUE(wait_for(victim));
    ASSERT_TRUE(victim.done) << victim.error->message;
    EXPECT_EQ(victim.ids, before.ids);
    EXPECT_EQ(victim.text, before.text);
    EXPECT_EQ(victim.done->timings.generated_tokens, 100);
    Client& after = start(request({3, 4, 5}, 10, 7));
    ASSERT_TRUE(wait_for(after));
    EXPECT_EQ(after.ids, std::vector(before.ids.begin(), before.ids.begin() + 10));
    EXPECT_NE(list()[0].pid, pid);
}

TEST_F(ServeTest, StoppingIsGraceful) {
    Client& client = start(request({3}, 1, 1));
    ASSERT_TRUE(wait_for(client));
    bool stopped = false;
    const auto begin = std::chrono::steady_clock::now();
    supervisor_.stop([&] { stopped = true; });
    EXPECT_TRUE(run_until(io_, [&] { return stopped; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << "it was killed";
}

}  // namespace
