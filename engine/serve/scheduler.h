// Who runs next: a pure function of what waits, what runs and the budget. Policy only: it knows no
// device, clock, text or thread, and changes nothing. tests/data/stories says in plain words what
// it does.
//
//   1. Every running sequence whose prompt is read gets one row, and as many more as it has draft
//   tokens.
//   2. The rest of the step's rows goes to prompts: the higher class first, within a class the
//   clients in turn, a client's own in order of arrival. Each client first gets an equal share of
//   the rows, then what is left goes in order.
//      A waiting prompt is admitted when it and one token more fit beside what running prompts
//      still need; nobody overtakes the first that waits. Waiting raises the class, and makes the
//      oldest first at last, so that everybody's turn comes.
//   3. When pages run out, drafts are dropped first; then the running sequence of the lowest class,
//   the newest of
//      those, is preempted: it gives back its pages, waits again at its old place, and is computed
//      again later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::serve {

using SequenceId = std::uint64_t;

// The lower one gives way.
enum class Class : std::uint8_t { interactive, api, background };

// So many steps without a row raise a prompt by a class; three times as many put it first.
constexpr int kAgingSteps = 256;
constexpr int kOldAge = 3;

// A sequence as the scheduler sees it.
struct Candidate {
    SequenceId id;
    Class priority = Class::api;
    std::uint64_t client = 0;   // who asked; equal numbers are one client
    std::uint64_t arrival = 0;  // unique; smaller came first
    int known = 0;              // ids of prompt and answer so far
    int computed = 0;  // of these, from the start, with stored keys and values; below `known`
    int draft = 0;     // proposed tokens after the known ones
    int waited = 0;    // steps since it last had a row, or arrived
};

struct Budget {
    int rows;         // most rows of one step
    int prompt_rows;  // most prompt rows of a step that also extends answers
    int sequences;    // most sequences that run
    int pages_total;
    int pages_free;
};

struct Part {
    SequenceId id;
    int rows;  // from position `computed` on
};

struct Decision {
    std::vector<Part> batch;            // runs in this step, admitted ones included
    std::vector<SequenceId> admitted;   // were waiting
    std::vector<SequenceId> preempted;  // were running; not in the batch
    std::vector<SequenceId> rejected;   // were waiting, and can never fit into all pages
};

// `waiting` and `running` in any order. The batch is empty only when nothing runs and nothing can
// be admitted.
Decision schedule(std::span<const Candidate> waiting, std::span<const Candidate> running,
                  const Budget& budget);

}  // namespace hearth::serve
