// Runs the stories of tests/data/stories through the scheduler, and random traffic against its
// promises.
//
// A story is one line per event:
//   rows N, beside N, pages N, sequences N   the budget (512, 512, 1000, 64 when not said)
//   arrive A prompt N [interactive|api|background] [draft N] [client N]
//   finish A
//   step WHAT   the next decision must be WHAT, in any order: A[0..256) rows of a prompt, A+1 rows
//   of an answer, -A
//               preempted, !A rejected, nothing. A sequence whose known tokens are all computed
//               gains one token; a draft is taken to be wrong, so only the first row of A+n stays.
#include "engine/serve/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "engine/state/sequence_state.h"
#include "tests/support/paths.h"

namespace hearth::serve {
namespace {

// Waiting and running sequences, advanced as the engine loop does.
class World {
public:
    Budget budget{
        .rows = 512, .prompt_rows = 512, .sequences = 64, .pages_total = 1000, .pages_free = 0};

    void arrive(Candidate c) {
        c.arrival = arrivals_++;
        waiting_.push_back(c);
    }
    void finish(SequenceId id) {
        const auto is_it = [id](const Candidate& c) { return c.id == id; };
        std::erase_if(waiting_, is_it);
        std::erase_if(running_, is_it);
    }
    Decision decide() {
        budget.pages_free = budget.pages_total - pages_held();
        return schedule(waiting_, running_, budget);
    }
    void carry_out(const Decision& decision) {
        for (const SequenceId id : decision.preempted) {
            Candidate c = take(running_, id);
            c.computed = 0;
            waiting_.push_back(c);
        }
        for (const SequenceId id : decision.rejected) take(waiting_, id);
        for (const SequenceId id : decision.admitted) running_.push_back(take(waiting_, id));
        for (auto* sequences : {&waiting_, &running_})
            for (Candidate& c : *sequences) ++c.waited;
        for (const Part& part : decision.batch) {
            Candidate& c = running(part.id);
            c.waited = 0;
            const bool is_answer = c.known - c.computed == 1;
            c.computed += is_answer ? 1 : part.rows;
            if (c.computed == c.known) ++c.known;
        }
    }

    int pages_held() const {
        int held = 0;
        for (const Candidate& c : running_) held += state::page_count(c.computed);
        return held;
    }
    Candidate& running(SequenceId id) { return *find(running_, id); }
    const std::vector<Candidate>& waiting() const { return waiting_; }
    const std::vector<Candidate>& running() const { return running_; }

private:
    static std::vector<Candidate>::iterator find(std::vector<Candidate>& in, SequenceId id) {
        const auto found =
            std::find_if(in.begin(), in.end(), [id](const Candidate& c) { return c.id == id; });
        if (found == in.end()) std::abort();  // a decision about a sequence that is not there
        return found;
    }
    static Candidate take(std::vector<Candidate>& from, SequenceId id) {
        const auto found = find(from, id);
        const Candidate c = *found;
        from.erase(found);
        return c;
    }

    std::vector<Candidate> waiting_;
    std::vector<Candidate> running_;
    std::uint64_t arrivals_ = 0;
};

std::string name(SequenceId id) { return {static_cast<char>(id)}; }

std::multiset<std::string> told(World& world, const Decision& decision) {
    std::multiset<std::string> words;
    std::map<SequenceId, Candidate> all;
    for (const Candidate& c : world.waiting()) all[c.id] = c;
    for (const Candidate& c : world.running()) all[c.id] = c;
    const std::set<SequenceId> admitted(decision.admitted.begin(), decision.admitted.end());
    for (const Part& part : decision.batch) {
        const Candidate& c = all[part.id];
        const bool is_answer = c.known - c.computed == 1 && !admitted.contains(part.id);
        std::string word = name(part.id);
        word += is_answer ? "+" + std::to_string(part.rows)
                          : "[" + std::to_string(c.computed) + ".." +
                                std::to_string(c.computed + part.rows) + ")";
        words.insert(word);
    }
    for (const SequenceId id : decision.preempted) words.insert("-" + name(id));
    for (const SequenceId id : decision.rejected) words.insert("!" + name(id));
    if (words.empty()) words.insert("nothing");
    return words;
}

void tell(std::istream& line, const std::string& verb, World& world) {
    if (verb == "rows") line >> world.budget.rows;
    if (verb == "beside") line >> world.budget.prompt_rows;
    if (verb == "pages") line >> world.budget.pages_total;
    if (verb == "sequences") line >> world.budget.sequences;
    std::string who;
    if (verb == "arrive") {
        Candidate c{};
        c.priority = Class::api;
        line >> who;
        c.id = static_cast<SequenceId>(who.at(0));
        for (std::string word; line >> word;) {
            if (word == "prompt") line >> c.known;
            if (word == "draft") line >> c.draft;
            if (word == "client") line >> c.client;
            if (word == "interactive") c.priority = Class::interactive;
            if (word == "background") c.priority = Class::background;
        }
        world.arrive(c);
    }
    if (verb == "finish") {
        line >> who;
        world.finish(static_cast<SequenceId>(who.at(0)));
    }
    if (verb == "step") {
        std::multiset<std::string> expected;
        for (std::string word; line >> word;) expected.insert(word);
        const Decision decision = world.decide();
        EXPECT_EQ(told(world, decision), expected);
        world.carry_out(decision);
    }
}

TEST(Scheduler, TellsEveryStory) {
    int stories = 0;
    for (const auto& entry : std::filesystem::directory_iterator(testing::test_data("stories"))) {
        ++stories;
        std::ifstream story(entry.path());
        World world;
        int number = 0;
        for (std::string text; std::getline(story, text);) {
            SCOPED_TRACE(entry.path().filename().string() + ":" + std::to_string(++number));
            std::istringstream line(text);
            std::string verb;
            if (!(line >> verb) || verb == "#") continue;
            ASSERT_TRUE((std::set<std::string>{"rows", "beside", "pages", "sequences", "arrive",
                                               "finish", "step"}
                             .contains(verb)))
                << verb;
            tell(line, verb, world);
        }
    }
    EXPECT_EQ(stories, 13);
}

void check_promises(const World& world, const Decision& decision) {
    std::set<SequenceId> seen;
    int rows = 0;
    for (const Part& part : decision.batch) {
        ASSERT_GT(part.rows, 0);
        ASSERT_TRUE(seen.insert(part.id).second) << "twice in one batch";
        rows += part.rows;
    }
    ASSERT_LE(rows, world.budget.rows);
    for (const SequenceId id : decision.preempted)
        ASSERT_FALSE(seen.contains(id)) << "preempted and in the batch";
}

TEST(Scheduler, RandomTrafficStaysWithinTheBudgetAndEverybodyFinishes) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](int n) {
            return static_cast<int>(random() % static_cast<std::uint32_t>(n));
        };
        World world;
        world.budget.rows = 16 + below(100);
        world.budget.prompt_rows = 1 + below(16);
        world.budget.sequences = 1 + below(8);
        world.budget.pages_total = 8 + below(20);
        std::map<SequenceId, int> wanted;  // ids that the sequence ends with
        SequenceId next = 1;
        int steps = 0;
        while (next <= 20 || !wanted.empty()) {
            ASSERT_LT(++steps, 20000) << "somebody never finishes";
            if (next <= 20 && below(3) == 0) {
                const int most = world.budget.pages_total * 16;
                const int prompt = 1 + below(most / 2);
                wanted[next] = prompt + 1 + below(most / 2 - 2);
                world.arrive({.id = next,
                              .priority = static_cast<Class>(below(3)),
                              .client = static_cast<std::uint64_t>(below(3)),
                              .known = prompt,
                              .draft = below(4)});
                ++next;
            }
            const Decision decision = world.decide();
            ASSERT_NO_FATAL_FAILURE(check_promises(world, decision));
            ASSERT_TRUE(decision.rejected.empty());
            if (!world.running().empty() || !world.waiting().empty()) {
                ASSERT_FALSE(decision.batch.empty()) << "there is work, but nobody works";
            }
            world.carry_out(decision);
            ASSERT_LE(world.pages_held(), world.budget.pages_total);
            ASSERT_LE(static_cast<int>(world.running().size()), world.budget.sequences);
            std::vector<SequenceId> done;
            for (const Candidate& c : world.running())
                if (c.known >= wanted[c.id]) done.push_back(c.id);
            for (const SequenceId id : done) {
                world.finish(id);
                wanted.erase(id);
            }
        }
    }
}

TEST(T139, AnUrgentPromptIsReadBetweenTheChunksOfALongOne) {
    World world;
    world.budget.rows = 64;
    world.arrive({.id = 1, .priority = Class::api, .known = 5000});
    world.carry_out(world.decide());
    world.arrive({.id = 2, .priority = Class::interactive, .known = 20});
    const Decision decision = world.decide();
    ASSERT_EQ(decision.batch.size(), 2U);
    EXPECT_EQ(decision.batch[0].id, 2U);
    EXPECT_EQ(decision.batch[0].rows, 20);
    EXPECT_EQ(decision.batch[1].rows, 44) << "the long one goes on with what is left";
}

// One client sends job after job; every answer takes 20 steps.
int steps_until_admitted(Class priority, std::uint64_t client, int jobs_ahead) {
    World world;
    world.budget.sequences = 4;
    SequenceId next = 2;
    for (int i = 0; i < jobs_ahead; ++i) world.arrive({.id = next++, .client = 1, .known = 40});
    world.carry_out(world.decide());
    world.arrive({.id = 1, .priority = priority, .client = client, .known = 40});
    std::map<SequenceId, int> age;
    for (int step = 1; step < 10'000; ++step) {
        const Decision decision = world.decide();
        for (const SequenceId id : decision.admitted)
            if (id == 1) return step;
        world.carry_out(decision);
        std::vector<SequenceId> done;
        for (const Candidate& c : world.running())
            if (++age[c.id] == 20) done.push_back(c.id);
        for (const SequenceId id : done) {
            world.finish(id);
            world.arrive({.id = next++, .client = 1, .known = 40});
        }
    }
    return 10'000;
}

// The policy behind T132: 50 long jobs of one client against one of another.
TEST(T132, AnotherClientsRequestGetsTheNextPlaceThatIsFree) {
    EXPECT_LE(steps_until_admitted(Class::api, /*client=*/2, 50), 21);
    EXPECT_GT(steps_until_admitted(Class::api, /*client=*/1, 50), 200) << "its own client waits";
    EXPECT_LE(steps_until_admitted(Class::interactive, /*client=*/1, 50), 21);
}

TEST(T132, ABackgroundJobOfTheBusyClientStillGetsItsTurn) {
    const int steps = steps_until_admitted(Class::background, /*client=*/1, 50);
    EXPECT_GT(steps, kAgingSteps);
    EXPECT_LE(steps, (kOldAge + 1) * kAgingSteps);
}

}  // namespace
}  // namespace hearth::serve
