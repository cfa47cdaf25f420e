// One plan is made by one Planner, which keeps count of rows and pages while it goes through the
// sequences.
#include "engine/serve/scheduler.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/ops/args.h"
#include "engine/state/sequence_state.h"

namespace hearth::serve {

namespace {

bool is_reading(const Candidate& c) { return c.known - c.computed > 1; }

// New pages for `rows` rows more.
int pages_for(const Candidate& c, int rows) {
    return state::page_count(c.computed + rows) - state::page_count(c.computed);
}

// Most rows that need no more than `pages` new pages.
int rows_within(const Candidate& c, int pages) {
    return (state::page_count(c.computed) + pages) * kPagePositions - c.computed;
}

// Pages that a sequence needs to read its prompt and hold one token of the answer.
int pages_to_start(const Candidate& c) { return pages_for(c, c.known - c.computed + 1); }

std::vector<const Candidate*> by_arrival(std::span<const Candidate> candidates) {
    std::vector<const Candidate*> sorted;
    for (const Candidate& c : candidates) sorted.push_back(&c);
    std::sort(sorted.begin(), sorted.end(),
              [](const Candidate* a, const Candidate* b) { return a->arrival < b->arrival; });
    return sorted;
}

class Planner {
public:
    Planner(std::span<const Candidate> running, const Budget& budget)
        : budget_(budget),
          running_(running.begin(), running.end()),
          pages_free_(budget.pages_free),
          rows_left_(budget.rows) {
        std::sort(running_.begin(), running_.end(), [](const Candidate& a, const Candidate& b) {
            return std::tie(a.priority, a.arrival) < std::tie(b.priority, b.arrival);
        });
    }

    Decision plan(std::span<const Candidate> waiting) {
        extend_answers();
        if (!decision_.batch.empty()) rows_left_ = std::min(rows_left_, budget_.prompt_rows);
        read_prompts(decision_.preempted.empty() ? waiting : std::span<const Candidate>());
        // Prompts alone, each waiting for the pages of another: the newest gives way until one can
        // go on.
        while (decision_.batch.empty() && running_.size() > 1) {
            preempt_last();
            extend_answers();
            read_prompts({});
        }
        return std::move(decision_);
    }

private:
    void extend_answers() {
        // Those that may be preempted come last, so a sequence that already has its row keeps it.
        for (std::size_t i = 0; i < running_.size(); ++i) {
            if (is_reading(running_[i]) || rows_left_ == 0) continue;
            int rows = std::min(1 + running_[i].draft, rows_left_);
            if (pages_for(running_[i], rows) > pages_free_) rows = 1;
            while (i < running_.size() && pages_for(running_[i], rows) > pages_free_)
                preempt_last();
            if (i < running_.size()) take(running_[i], rows, pages_for(running_[i], rows));
        }
    }

    // A prompt that runs or waits, and its place in the order.
    struct Prompt {
        const Candidate* c;
        bool is_waiting;
        int turn;       // of its client: how many the client has before it
        int given = 0;  // rows in this step
        bool is_rejected = false;
    };

    static auto order_of(const Prompt& p) {
        const int age = p.c->waited / kAgingSteps;
        const bool is_old = age >= kOldAge;
        const int rank = is_old ? -1 : std::max(0, static_cast<int>(p.c->priority) - age);
        return std::tuple(rank, is_old ? 0 : p.turn, p.c->arrival);
    }

    std::vector<Prompt> prompts_in_order(std::span<const Candidate> waiting) const {
        std::vector<Prompt> prompts;
        std::map<std::uint64_t, int> places;  // of each client
        std::map<std::uint64_t, int> turns;
        for (const Candidate* c : by_arrival(running_)) {
            ++places[c->client];
            if (is_reading(*c)) prompts.push_back({c, false, turns[c->client]++});
        }
        for (const Candidate* c : by_arrival(waiting))
            prompts.push_back({c, true, places[c->client]++});
        std::sort(prompts.begin(), prompts.end(),
                  [](const Prompt& a, const Prompt& b) { return order_of(a) < order_of(b); });
        return prompts;
    }

    // In order, but first each client its share, so that nobody's long prompt holds up the others.
    void read_prompts(std::span<const Candidate> waiting) {
        std::vector<Prompt> prompts = prompts_in_order(waiting);
        std::map<std::uint64_t, int> shares;
        for (const Prompt& p : prompts) {
            shares[p.c->client] = 0;
            if (!p.is_waiting) spoken_for_ += pages_to_start(*p.c);
        }
        if (shares.empty()) return;
        const int share = std::max(1, rows_left_ / static_cast<int>(shares.size()));
        for (auto& [client, rows] : shares) rows = share;
        bool is_open = true;  // to those that wait
        for (Prompt& p : prompts) {
            int& left = shares[p.c->client];
            if (p.is_waiting) is_open = is_open && admit(p, left);
            left -= read(p, left);
        }
        for (Prompt& p : prompts) {
            if (p.is_waiting) is_open = is_open && admit(p, rows_left_);
            read(p, rows_left_);
        }
        spoken_for_ = 0;
    }

    // False: it must wait for room, and those behind it too. True says nothing: it may be admitted,
    // rejected, or its client has had its share.
    bool admit(Prompt& p, int share) {
        const Candidate& c = *p.c;
        if (p.is_rejected) return true;
        if (pages_to_start(c) > budget_.pages_total) {
            p.is_rejected = true;
            decision_.rejected.push_back(c.id);
            return true;
        }
        const auto taken = running_.size() + decision_.admitted.size();
        if (std::cmp_greater_equal(taken, budget_.sequences) || rows_left_ == 0) return false;
        if (pages_to_start(c) > pages_free_ - spoken_for_) return false;
        if (share <= 0) return true;
        spoken_for_ += pages_to_start(c);
        decision_.admitted.push_back(c.id);
        p.is_waiting = false;
        return true;
    }

    // Gives the prompt up to `most` rows more; how many it took.
    int read(Prompt& p, int most) {
        if (p.is_waiting) return 0;
        const Candidate& c = *p.c;
        const int begun = pages_for(c, p.given);
        const int rows = std::min({c.known - c.computed - p.given, most, rows_left_,
                                   rows_within(c, pages_free_ + begun) - p.given});
        if (rows <= 0) return 0;
        p.given += rows;
        spoken_for_ -= pages_for(c, p.given) - begun;
        take(c, rows, pages_for(c, p.given) - begun);
        return rows;
    }

    void take(const Candidate& c, int rows, int pages) {
        pages_free_ -= pages;
        rows_left_ -= rows;
        for (Part& part : decision_.batch) {
            if (part.id != c.id) continue;
            part.rows += rows;
            return;
        }
        decision_.batch.push_back({.id = c.id, .rows = rows});
    }

    void preempt_last() {
        const Candidate& last = running_.back();
        pages_free_ += state::page_count(last.computed);
        decision_.preempted.push_back(last.id);
        running_.pop_back();
    }

    const Budget& budget_;
    std::vector<Candidate> running_;  // most important first, older before newer
    int pages_free_;
    int rows_left_;
    int spoken_for_ = 0;  // pages that prompts which run need beyond what they have taken
    Decision decision_;
};

}  // namespace

Decision schedule(std::span<const Candidate> waiting, std::span<const Candidate> running,
                  const Budget& budget) {
    return Planner(running, budget).plan(waiting);
}

}  // namespace hearth::serve
