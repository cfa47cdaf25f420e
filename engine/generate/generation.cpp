// Ids to events.
#include "engine/generate/generation.h"

#include <utility>

namespace hearth::generate {

namespace {

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

Generation::Generation(const text::Tokenizer& tokenizer, EventSink& sink, GenerationPlan plan)
    : tokenizer_(tokenizer),
      sink_(sink),
      plan_(std::move(plan)),
      detokenizer_(tokenizer),
      stops_(plan_.stop),
      submitted_(Clock::now()),
      started_(submitted_) {}

bool Generation::on_accepted() {
    sink_.on_event(plan_.number, Accepted{.prompt_ids = plan_.prompt});
    if (plan_.limit <= 0) return false;
    // The text of earlier ids was sent by whoever made them; what they hold back comes with the
    // next ones.
    std::string sent;
    for (const std::int32_t id : plan_.generated)
        if (!advance(id, sent)) return false;
    return true;
}

void Generation::on_started() { started_ = Clock::now(); }

bool Generation::on_token(const sample::Picked& picked) {
    last_ = Clock::now();
    if (generated_++ == 0) first_ = last_;
    Delta delta;
    const bool goes_on = advance(picked.id, delta.text);
    delta.tokens.push_back(describe(picked));
    sink_.on_event(plan_.number, std::move(delta));
    return goes_on;
}

void Generation::on_end(Result<void> result) {
    if (!result && result.error().code != ErrorCode::cancelled) {
        sink_.on_event(plan_.number, std::move(result).error());
        return;
    }
    if (!result) reason_ = FinishReason::cancelled;
    sink_.on_event(
        plan_.number,
        Done{.reason = reason_, .stop_string = std::move(stop_string_), .timings = timings()});
}

bool Generation::advance(std::int32_t id, std::string& text) {
    ++answered_;
    if (!plan_.ignore_end && tokenizer_.is_end(id)) {
        finish(FinishReason::stop, text);
        return false;
    }
    if (show(detokenizer_.push(id), text)) return false;
    if (answered_ < plan_.limit) return true;
    finish(FinishReason::length, text);
    return false;
}

void Generation::finish(FinishReason reason, std::string& text) {
    reason_ = reason;
    // The rest of a character that never came may complete a stop string.
    if (!show(detokenizer_.flush(), text)) text += stops_.flush();
}

bool Generation::show(std::string_view piece, std::string& text) {
    const text::StopMatcher::Output output = stops_.push(piece);
    text += output.text;
    if (!output.stop) return false;
    stop_string_ = plan_.stop[*output.stop];
    reason_ = FinishReason::stop;
    return true;
}

PickedToken Generation::describe(const sample::Picked& picked) const {
    PickedToken token{};
    token.id = picked.id;
    if (plan_.logprobs < 0) return token;
    token.logprob = picked.logprob;
    token.bytes = tokenizer_.bytes(picked.id);
    for (const sample::IdLogprob& top : picked.top)
        token.top.push_back(
            {.id = top.id, .logprob = top.logprob, .bytes = std::string(tokenizer_.bytes(top.id))});
    return token;
}

Timings Generation::timings() const {
    Timings timings;
    timings.prompt_tokens = static_cast<int>(plan_.prompt.size());
    timings.generated_tokens = generated_;
    timings.queue_ms = milliseconds(started_ - submitted_);
    if (generated_ == 0) return timings;
    timings.prompt_ms = milliseconds(first_ - started_);
    timings.generation_ms = milliseconds(last_ - first_);
    return timings;
}

}  // namespace hearth::generate
