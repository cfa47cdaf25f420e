// Times reading a prompt and generating an answer, without text, scheduler or sampling: the same
// work as the tests pp and tg of llama-bench, so that figures can be compared.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/load.h"

namespace hearth::generate {

struct BenchOptions {
    int prompt = 512;       // tokens read in one test; 0: skip it
    int generation = 128;   // tokens generated in the other, one by one; 0: skip it
    int depth = 0;          // positions that are there before either begins
    int repetitions = 5;    // after one that warms up and is not counted
    int step_tokens = 512;  // most rows of one step
    DType key_type = DType::f16;
    DType value_type = DType::f16;
};

struct BenchReport {
    std::vector<double> prompt_seconds;  // of each repetition
    std::vector<double> generation_seconds;
    // Bytes that one generated token has to read: every weight once (one row of an untied
    // embedding), and the keys and values of the middle of the run.
    std::uint64_t bytes_per_token = 0;
};

// Tokens come from a fixed sequence of pseudo-random ids. Errors: bad_input for options out of
// range, context_exceeded with both numbers, no_memory.
Result<BenchReport> bench(const LoadedModel& model, const BenchOptions& options);

}  // namespace hearth::generate
