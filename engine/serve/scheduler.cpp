// One plan is made by one Planner, which keeps count of rows and pages while it goes through the
// sequences.
#include "engine/serve/scheduler.h"

#include <algorithm>
#include <tuple>

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
        read_prompts();
        if (decision_.preempted.empty()) admit(waiting);
        // Prompts alone, each waiting for the pages of another: the newest gives way until one can
        // go on.
        while (decision_.batch.empty() && running_.size() > 1) {
            preempt_last();
            extend_answers();
            read_prompts();
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
            if (i < running_.size()) take(running_[i], rows);
        }
    }

    void read_prompts() {
        std::vector<const Candidate*> reading;
        for (const Candidate& c : running_)
            if (is_reading(c)) reading.push_back(&c);
        std::sort(reading.begin(), reading.end(),
                  [](const Candidate* a, const Candidate* b) { return a->arrival < b->arrival; });
        for (const Candidate* c : reading)
            take(*c, std::min({c->known - c->computed, rows_left_, rows_within(*c, pages_free_)}));
    }

    void admit(std::span<const Candidate> waiting) {
        std::vector<Candidate> queue(waiting.begin(), waiting.end());
        std::sort(queue.begin(), queue.end(),
                  [](const Candidate& a, const Candidate& b) { return a.arrival < b.arrival; });
        int spoken_for = 0;  // by prompts that run, beyond what this step takes
        for (const Candidate& c : running_)
            if (is_reading(c)) spoken_for += pages_to_start(c) - pages_for(c, rows_of(c.id));
        int places = budget_.sequences - static_cast<int>(running_.size());
        for (const Candidate& c : queue) {
            if (pages_to_start(c) > budget_.pages_total) {
                decision_.rejected.push_back(c.id);
                continue;
            }
            if (places == 0 || rows_left_ == 0) return;
            if (pages_to_start(c) > pages_free_ - spoken_for) return;
            const int rows = std::min(c.known - c.computed, rows_left_);
            spoken_for += pages_to_start(c) - pages_for(c, rows);
            decision_.admitted.push_back(c.id);
            take(c, rows);
            --places;
        }
    }

    void take(const Candidate& c, int rows) {
        if (rows <= 0) return;
        pages_free_ -= pages_for(c, rows);
        rows_left_ -= rows;
        decision_.batch.push_back({.id = c.id, .rows = rows});
    }

    void preempt_last() {
        const Candidate& last = running_.back();
        pages_free_ += state::page_count(last.computed);
        decision_.preempted.push_back(last.id);
        running_.pop_back();
    }

    int rows_of(SequenceId id) const {
        for (const Part& part : decision_.batch)
            if (part.id == id) return part.rows;
        return 0;
    }

    const Budget& budget_;
    std::vector<Candidate> running_;  // most important first, older before newer
    int pages_free_;
    int rows_left_;
    Decision decision_;
};

}  // namespace

Decision schedule(std::span<const Candidate> waiting, std::span<const Candidate> running,
                  const Budget& budget) {
    return Planner(running, budget).plan(waiting);
}

}  // namespace hearth::serve
