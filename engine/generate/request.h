// What a client asks of the engine, and what it gets back.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/chat/value.h"
#include "engine/sample/params.h"

namespace hearth {

enum class Priority : std::uint8_t { interactive, api, background };

// Variables of the model's own chat template: messages, tools, add_generation_prompt and so on, all
// foreign text.
struct ChatPrompt {
    chat::Value variables;
};
struct TextPrompt {
    std::string text;
    bool parse_special = true;  // recognise control tokens in the text
};
struct IdsPrompt {
    std::vector<std::int32_t> ids;
};

using Prompt = std::variant<ChatPrompt, TextPrompt, IdsPrompt>;

struct PromptTokens {
    std::string text;
    std::vector<std::int32_t> ids;
};

struct GenerateRequest {
    Prompt prompt;
    std::vector<std::int32_t>
        generated;  // ids of the answer so far: continue an interrupted generation exactly
    sample::Params sampling;
    int max_tokens = -1;  // -1: until the context is full
    std::vector<std::string> stop;
    int logprobs = -1;        // -1: none; n: of the picked token and the n likeliest
    bool ignore_end = false;  // go on past end-of-generation tokens (benchmarks)
    Priority priority = Priority::api;
    std::string client;
    std::string cache_salt;
};

enum class FinishReason : std::uint8_t { stop, length, cancelled };

struct TokenLogprob {
    std::int32_t id;
    float logprob;  // natural log, of the unmodified softmax
    std::string bytes;
};
struct PickedToken {
    std::int32_t id;
    float logprob = 0.0F;           // when asked for
    std::string bytes;              // when asked for
    std::vector<TokenLogprob> top;  // likeliest first
};

struct Timings {
    int prompt_tokens = 0;
    int cached_tokens = 0;  // of the prompt, not computed again
    int generated_tokens = 0;
    double queue_ms = 0;
    double prompt_ms = 0;
    double generation_ms = 0;
};

struct Accepted {
    std::vector<std::int32_t> prompt_ids;
};
struct Delta {
    std::string text;  // whole characters; may be empty while a character or stop string is open
    std::vector<PickedToken> tokens;  // ids always; the rest when asked for
};
struct Done {
    FinishReason reason;
    std::string stop_string;  // the one that matched, or empty
    Timings timings;
};
using Event = std::variant<Accepted, Delta, Done, Error>;  // exactly one Done or Error, last

// Called on the engine thread; must not block and must not call back into the engine.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void on_event(std::uint64_t generation, Event event) = 0;
};

}  // namespace hearth
