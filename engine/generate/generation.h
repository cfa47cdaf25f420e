// One request on its way back: token ids become text, stop strings and ends are found, timings
// taken. It lives on thread "hearth-engine" from on_accepted on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generate/request.h"
#include "engine/serve/job.h"
#include "engine/text/detokenizer.h"
#include "engine/text/stop_matcher.h"
#include "engine/text/tokenizer.h"

namespace hearth::generate {

struct GenerationPlan {
    std::uint64_t number;
    std::vector<std::int32_t> prompt;
    std::vector<std::int32_t> generated;  // ids of the answer so far
    int limit;                            // most ids of the answer, those included
    std::vector<std::string> stop;
    int logprobs = -1;
    bool ignore_end = false;
};

class Generation final : public serve::TokenSink {
public:
    // Borrows tokenizer and sink.
    Generation(const text::Tokenizer& tokenizer, EventSink& sink, GenerationPlan plan);

    bool on_accepted() override;
    void on_started() override;
    bool on_token(const sample::Picked& picked) override;
    void on_end(Result<void> result) override;

private:
    using Clock = std::chrono::steady_clock;

    // Takes the next id of the answer; appends to `text` what may be shown. False: the answer ends
    // with it.
    bool advance(std::int32_t id, std::string& text);
    void finish(FinishReason reason, std::string& text);
    // Adds what may be shown; true when a stop string ended it.
    bool show(std::string_view piece, std::string& text);
    PickedToken describe(const sample::Picked& picked) const;
    Timings timings() const;

    const text::Tokenizer& tokenizer_;
    EventSink& sink_;
    GenerationPlan plan_;
    text::Detokenizer detokenizer_;
    text::StopMatcher stops_;
    FinishReason reason_ = FinishReason::length;
    std::string stop_string_;
    int answered_ = 0;   // ids of the answer, earlier ones included
    int generated_ = 0;  // of these, made here
    Clock::time_point submitted_;
    Clock::time_point started_;  // of the first step; submitted_ while it waits
    Clock::time_point first_;    // token made here
    Clock::time_point last_;
};

}  // namespace hearth::generate
