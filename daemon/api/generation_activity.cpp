#include "daemon/api/generation_activity.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "daemon/api/failure_reply.h"
#include "engine/base/log.h"

namespace hearth::api {
namespace {

std::string fresh_id(bool is_chat) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string id = is_chat ? "chatcmpl-" : "cmpl-";
    for (int part = 0; part < 2; ++part) {
        std::uint64_t bits = generate::Generations::draw_seed();
        for (int digit = 0; digit < 12; ++digit, bits >>= 4U) id += kHex[bits & 15U];
    }
    return id;
}

std::int64_t seconds_since_1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

protocol::Timings timings_from(const wire::Timings& given) {
    protocol::Timings timings;
    timings.queue_ms = given.queue_ms;
    timings.prompt_ms = given.prompt_ms;
    timings.generation_ms = given.generation_ms;
    timings.prompt_tokens = given.prompt_tokens;
    timings.cached_tokens = given.cached_tokens;
    timings.generated_tokens = given.generated_tokens;
    return timings;
}

int characters(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }));
}

std::vector<protocol::TokenLogprob> logprobs_from(const wire::Delta& delta) {
    std::vector<protocol::TokenLogprob> list;
    for (std::size_t i = 0; i < delta.logprobs.size() && i < delta.ids.size(); ++i) {
        const wire::PickedLogprob& picked = delta.logprobs[i];
        protocol::TokenLogprob token{delta.ids[i], picked.logprob, picked.bytes, {}};
        for (const wire::TokenLogprob& other : picked.top)
            token.top.push_back({other.id, other.logprob, other.bytes, {}});
        list.push_back(std::move(token));
    }
    return list;
}

}  // namespace

// One choice: its generation, and what it has said so far.
class GenerationActivity::ChoiceRun final : public generate::Subscriber {
public:
    ChoiceRun(GenerationActivity& owner, int index) : owner_(owner) { choice.index = index; }

    void on_accepted(generate::Accepted accepted) override {
        owner_.on_accepted(*this, std::move(accepted));
    }
    void on_delta(wire::Delta delta) override { owner_.on_delta(*this, std::move(delta)); }
    void on_done(wire::Done done) override {
        running = false;
        owner_.on_done(*this, done);
    }
    void on_error(Error error) override {
        running = false;
        owner_.on_error(error);
    }

    protocol::Choice choice;  // in a stream: index and text_offset only
    protocol::Timings timings;
    std::uint64_t generation = 0;
    std::uint32_t unconsumed = 0;  // deltas that wait in the reply's queue
    bool running = true;

private:
    GenerationActivity& owner_;
};

GenerationActivity::GenerationActivity(generate::Generations& generations, GenerationPlan plan,
                                       ReplyStream& stream)
    : generations_(generations),
      plan_(std::move(plan)),
      stream_(stream),
      id_(fresh_id(plan_.is_chat)),
      created_(seconds_since_1970()) {
    prompt_ids_.resize(plan_.orders.size());
    const int total = static_cast<int>(plan_.orders.size()) * plan_.choices;
    for (int index = 0; index < total; ++index) {
        ChoiceRun& run = *runs_.emplace_back(std::make_unique<ChoiceRun>(*this, index));
        generate::Order order{plan_.model,
                              plan_.orders[static_cast<std::size_t>(index / plan_.choices)],
                              plan_.prompt_bytes / plan_.orders.size(), plan_.time};
        // Within its prompt: a prompt gets the same answers alone and beside others.
        order.request.sampling.choice = static_cast<std::uint32_t>(index % plan_.choices);
        run.generation = generations_.start(std::move(order), run);
    }
    plan_.orders.clear();  // prompts can be large
}

GenerationActivity::~GenerationActivity() { cancel_all(); }

void GenerationActivity::cancel_all() {
    for (const auto& run : runs_)
        if (std::exchange(run->running, false)) generations_.cancel(run->generation);
}

protocol::ReplyStyle GenerationActivity::style() const {
    using protocol::ReplyShape;
    const ReplyShape whole = plan_.is_chat ? ReplyShape::chat : ReplyShape::completion;
    const ReplyShape chunk = plan_.is_chat ? ReplyShape::chat_chunk : ReplyShape::completion_chunk;
    return {plan_.stream ? chunk : whole, plan_.token_ids, true,
            plan_.stream && plan_.include_usage};
}

protocol::Reply GenerationActivity::blank_reply() const {
    protocol::Reply reply;
    reply.id = id_;
    reply.model = plan_.model.id;
    reply.created = created_;
    reply.seed = seed_;
    return reply;
}

void GenerationActivity::on_accepted(ChoiceRun& run, generate::Accepted accepted) {
    seed_ = accepted.seed;  // the same for all
    auto& ids = prompt_ids_[static_cast<std::size_t>(run.choice.index / plan_.choices)];
    const bool first = ids.empty();
    if (first) ids = std::move(accepted.prompt_ids);
    if (!plan_.stream) return;
    if (!std::exchange(begun_, true)) stream_.begin_events();
    protocol::Reply reply = blank_reply();
    protocol::Choice& opening = reply.choices.emplace_back();
    opening.index = run.choice.index;
    opening.opens = true;
    if (first && plan_.token_ids) {
        opening.prompt_token_ids = ids;
        if (prompt_ids_.size() == 1) reply.prompt_token_ids = ids;
    }
    stream_.send_event(boost::json::serialize(protocol::to_json(reply, style())));
}

void GenerationActivity::send_chunk(protocol::Choice choice,
                                    std::optional<protocol::Timings> timings) {
    protocol::Reply reply = blank_reply();
    reply.choices.push_back(std::move(choice));
    reply.timings = timings;
    stream_.send_event(boost::json::serialize(protocol::to_json(reply, style())));
}

void GenerationActivity::on_delta(ChoiceRun& run, wire::Delta delta) {
    if (!plan_.stream) {
        for (auto& token : logprobs_from(delta)) run.choice.logprobs.push_back(std::move(token));
        run.choice.text += delta.text;
        run.choice.token_ids.insert(run.choice.token_ids.end(), delta.ids.begin(), delta.ids.end());
        return generations_.consumed(run.generation, 1);
    }
    // A chunk that would say nothing is not sent: a character or a stop string is still open.
    if (!delta.text.empty() || plan_.token_ids || !delta.logprobs.empty()) {
        protocol::Choice chunk;
        chunk.index = run.choice.index;
        chunk.text_offset = run.choice.text_offset;
        chunk.logprobs = logprobs_from(delta);
        run.choice.text_offset += characters(delta.text);
        chunk.text = std::move(delta.text);
        chunk.token_ids = std::move(delta.ids);
        send_chunk(std::move(chunk), std::nullopt);
    }
    ++run.unconsumed;
    if (stream_.queued_bytes() < ReplyStream::kQueueLimit)
        generations_.consumed(run.generation, std::exchange(run.unconsumed, 0));
}

void GenerationActivity::on_room() {
    for (const auto& run : runs_)
        if (run->running && run->unconsumed > 0)
            generations_.consumed(run->generation, std::exchange(run->unconsumed, 0));
}

void GenerationActivity::on_done(ChoiceRun& run, const wire::Done& done) {
    if (done.reason == wire::FinishReason::cancelled)  // not by us, who would not hear of it
        return on_error({ErrorCode::internal, "the worker gave up this generation"});
    run.choice.finish_reason = done.reason == wire::FinishReason::stop ? "stop" : "length";
    run.timings = timings_from(done.timings);
    if (plan_.stream) {
        protocol::Choice last;
        last.index = run.choice.index;
        last.finish_reason = run.choice.finish_reason;
        send_chunk(std::move(last), run.timings);
    }
    if (++done_ == runs_.size()) finish();
}

void GenerationActivity::on_error(const Error& error) {
    cancel_all();
    if (error.code != ErrorCode::cancelled && http_status(error.code) >= 500)
        log(LogLevel::warning, plan_.model.id + ": a generation failed: " + error.message);
    if (begun_) {
        stream_.send_event(failure_body(error));
        return stream_.end_events();
    }
    protocol::Failure failure{error, {}};
    if (error.code == ErrorCode::context_exceeded)
        failure.param = plan_.is_chat ? "messages" : "prompt";
    stream_.send(failure_reply(failure));
}

void GenerationActivity::finish() {
    protocol::Reply reply = blank_reply();
    if (plan_.stream) {
        if (plan_.include_usage) {
            reply.usage = usage();
            reply.timings = timings();
            stream_.send_event(boost::json::serialize(protocol::to_json(reply, style())));
        }
        stream_.send_event("[DONE]");
        return stream_.end_events();
    }
    for (const auto& run : runs_) {
        if (plan_.token_ids) run->choice.prompt_token_ids = ids_for(run->choice.index);
        reply.choices.push_back(std::move(run->choice));
    }
    reply.usage = usage();
    reply.timings = timings();
    if (plan_.token_ids && prompt_ids_.size() == 1) reply.prompt_token_ids = prompt_ids_.front();
    stream_.send(json_reply(protocol::to_json(reply, style())));
}

const std::vector<std::int32_t>& GenerationActivity::ids_for(int choice) const {
    return prompt_ids_[static_cast<std::size_t>(choice / plan_.choices)];
}

protocol::Usage GenerationActivity::usage() const {
    protocol::Usage usage;
    for (const auto& ids : prompt_ids_) usage.prompt_tokens += static_cast<int>(ids.size());
    for (const auto& run : runs_) {
        usage.completion_tokens += run->timings.generated_tokens;
        // The first choice of each prompt speaks for it: the others reuse what it computed.
        if (run->choice.index % plan_.choices == 0)
            usage.cached_tokens += run->timings.cached_tokens;
    }
    return usage;
}

// Of all choices: they ran side by side, so durations are those of the slowest.
protocol::Timings GenerationActivity::timings() const {
    protocol::Timings all;
    for (const auto& run : runs_) {
        const protocol::Timings& one = run->timings;
        all.queue_ms = std::max(all.queue_ms, one.queue_ms);
        all.prompt_ms = std::max(all.prompt_ms, one.prompt_ms);
        all.generation_ms = std::max(all.generation_ms, one.generation_ms);
        all.cached_tokens = std::max(all.cached_tokens, one.cached_tokens);
        all.generated_tokens += one.generated_tokens;
    }
    all.prompt_tokens = usage().prompt_tokens;
    return all;
}

}  // namespace hearth::api
