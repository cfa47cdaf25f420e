// Chat and completion requests, and their replies, whole or as the chunks of a stream. The JSON is
// OpenAI's, with the additions that README.md lists.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

constexpr int kMaxChoices = 8;                  // of one prompt
constexpr std::size_t kMaxPrompts = 32;         // of one completion request
constexpr std::size_t kMaxRequestChoices = 64;  // prompts times choices
constexpr int kMaxStops = 4;
constexpr int kMaxTopLogprobs = 20;
constexpr std::size_t kMaxLogitBias = 1024;

// What both kinds of request share. Ranges stand beside the fields.
struct GenerationOptions {
    std::string model;                // empty or "default": the daemon picks
    int max_tokens = -1;              // from 1; -1: until the context is full
    double temperature = 1.0;         // 0..2; 0 is greedy
    int top_k = 0;                    // 0: off; -1 in JSON means off as well
    double top_p = 1.0;               // above 0..1
    double min_p = 0.0;               // 0..1
    double repetition_penalty = 1.0;  // above 0..2
    double presence_penalty = 0.0;    // -2..2
    double frequency_penalty = 0.0;   // -2..2
    std::vector<std::pair<std::int32_t, double>> logit_bias;  // token id, -100..100
    std::optional<std::uint64_t> seed;                        // the daemon draws a missing one
    int choices = 1;                                          // "n", 1..kMaxChoices
    std::vector<std::string> stop;                            // at most kMaxStops, none empty
    int logprobs = -1;  // -1: none; else this many likeliest tokens beside the picked one
    bool stream = false;
    bool include_usage = false;  // a last chunk with usage
    bool return_token_ids = false;
    bool ignore_end = false;          // "ignore_eos": go on past end-of-generation tokens
    std::string priority = "api";     // "interactive", "api" or "background"
    std::string client;               // "user": who asks, for people
    std::optional<double> timeout_s;  // above 0 to 86400; then timed_out; the daemon has a default
    std::string cache_salt;           // requests share prompt state only with the same salt
};

struct ChatRequest {
    GenerationOptions options;
    json::array messages;             // role and content; content is text or null, parts are joined
    json::array tools;                // passed to the template as they came
    json::object template_variables;  // "chat_template_kwargs"
    bool add_generation_prompt = true;
};

// Text or token ids.
using Prompt = std::variant<std::string, std::vector<std::int32_t>>;

struct CompletionRequest {
    GenerationOptions options;
    std::vector<Prompt> prompts;  // each gets its own choices
    bool parse_special = true;    // control tokens in a text prompt are recognised
};

// What is wrong is left in `fields`.
ChatRequest read_chat_request(Fields& fields);
CompletionRequest read_completion_request(Fields& fields);
json::object to_json(const ChatRequest& request);
json::object to_json(const CompletionRequest& request);

struct TokenLogprob {
    std::int32_t id = 0;
    double logprob = 0.0;           // natural logarithm, of the unmodified softmax
    std::string bytes;              // not always UTF-8
    std::vector<TokenLogprob> top;  // likeliest first
};

struct Choice {
    int index = 0;              // those of the first prompt come first
    std::string text;           // of a chunk: what is new
    bool opens = false;         // first chunk of a chat choice: carries the role
    std::string finish_reason;  // "stop", "length"; empty while it goes on
    std::vector<std::int32_t> token_ids;
    std::vector<TokenLogprob> logprobs;
    int text_offset = 0;  // characters before this chunk (completions with logprobs)
    std::optional<std::vector<std::int32_t>> prompt_token_ids;  // completions only
};

struct Usage {
    int prompt_tokens = 0;
    int completion_tokens = 0;
    int cached_tokens = 0;  // of the prompt, not computed again
};

struct Timings {
    double queue_ms = 0.0;  // from arrival to the first prompt step, loading included
    double prompt_ms = 0.0;
    double generation_ms = 0.0;
    int prompt_tokens = 0;
    int cached_tokens = 0;
    int generated_tokens = 0;

    double prompt_tokens_per_second() const;
    double tokens_per_second() const;
};

struct Reply {
    std::string id;
    std::string model;
    std::int64_t created = 0;  // seconds since 1970
    std::optional<std::uint64_t> seed;
    std::vector<Choice> choices;
    std::optional<Usage> usage;
    std::optional<Timings>
        timings;  // of all choices together; in a stream on the last chunk of each
    std::optional<std::vector<std::int32_t>> prompt_token_ids;
};

enum class ReplyShape : std::uint8_t { chat, chat_chunk, completion, completion_chunk };
struct ReplyStyle {
    ReplyShape shape = ReplyShape::chat;
    bool token_ids = false;
    bool logprobs = false;
    bool usage = false;  // null where a reply has none: what a stream with usage owes to others
};

json::object to_json(const Reply& reply, const ReplyStyle& style);
// Reads all four shapes.
Reply read_reply(Fields& fields);

}  // namespace hearth::protocol
