// What hearthd and hearth-worker say to each other, as plain structs. The engine's own types stay
// in the worker; these mirror them field by field, because the two processes must agree on nothing
// but this folder.
//
// Durations are milliseconds, sizes bytes, log-probabilities natural logarithms of the unmodified
// softmax.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"

namespace hearth::wire {

// ---- daemon to worker ----

struct Load {
    std::string name;  // of the model, for messages
    std::string backend = "auto";
    int threads = 0;             // 0: one per physical core
    int context = 0;             // tokens per sequence; 0: the model's own, as far as memory allows
    std::uint64_t kv_bytes = 0;  // budget for keys and values; 0: a share of what is free
    std::string key_type = "f16";
    std::string value_type = "f16";
    int max_sequences = 0;  // running at once; 0: the engine's default
};

// Ranges are checked by the worker (engine/sample/params.h), which answers bad_input.
struct Sampling {
    float temperature = 1.0F;
    int top_k = 0;
    float top_p = 1.0F;
    float min_p = 0.0F;
    float repetition_penalty = 1.0F;
    float presence_penalty = 0.0F;
    float frequency_penalty = 0.0F;
    std::vector<std::pair<std::int32_t, float>> logit_bias;
    std::optional<std::uint64_t> seed;  // the worker always gets one: daemon/generate draws it
    std::uint32_t choice = 0;           // index of the choice when a request asks for several
};

struct ChatPrompt {
    boost::json::object variables;  // what the template sees: messages, tools, …
};
struct TextPrompt {
    std::string text;
    bool parse_special = true;
};
struct IdsPrompt {
    std::vector<std::int32_t> ids;
};

enum class Priority : std::uint8_t { interactive, api, background };

struct Generate {
    std::variant<ChatPrompt, TextPrompt, IdsPrompt> prompt;
    std::vector<std::int32_t> generated;  // ids of the answer so far, to continue it
    Sampling sampling;
    int max_tokens = -1;  // -1: until the context is full
    std::vector<std::string> stop;
    int logprobs = -1;  // -1: none; n: of the picked token and the n likeliest
    bool ignore_end = false;
    Priority priority = Priority::api;
    std::string client;
    std::string cache_salt;
    std::uint32_t credit = 64;  // deltas that may be in flight before the first Credit
};

struct Cancel {};
struct Credit {
    std::uint32_t deltas = 1;  // so many more may be in flight
};
struct Shutdown {};
struct StatsRequest {};

// What a generation with this prompt would read. Answered with Tokens or Failure.
struct Tokenize {
    std::variant<ChatPrompt, TextPrompt, IdsPrompt> prompt;
    std::optional<bool> add_bos;  // missing: as the model wants it
    bool with_text = false;
    bool with_pieces = false;
};
// Ids to text. Answered with Tokens, of which only the text is set, or Failure.
struct Detokenize {
    std::vector<std::int32_t> ids;
};

using ToWorker =
    std::variant<Load, Generate, Cancel, Credit, Shutdown, StatsRequest, Tokenize, Detokenize>;

// ---- worker to daemon ----

// What confines the worker, as found in force and not as wished.
struct Sandbox {
    bool no_new_privileges = false;
    bool seccomp = false;
    int landlock = 0;     // version of the kernel's interface; 0: the kernel has none
    std::string missing;  // why a part is not in force, for people; empty when all is
};

struct ModelInfo {
    std::string architecture;
    std::string name;
    std::string quantization;
    std::string backend;
    int context = 0;
    int trained_context = 0;
    int layers = 0;
    int width = 0;
    int vocabulary = 0;
    std::uint64_t parameters = 0;
    std::uint64_t weight_bytes = 0;
    std::uint64_t kv_bytes_per_token = 0;
    std::uint64_t kv_bytes = 0;
    bool has_chat_template = false;
    std::string chat_unavailable;
    std::string fingerprint;
};

struct Ready {
    ModelInfo model;
    Sandbox sandbox;
    double load_ms = 0;
};
// The model could not be loaded; the worker ends.
struct Failed {
    Error error;
};

struct Accepted {
    std::int32_t prompt_tokens = 0;
    std::vector<std::int32_t> prompt_ids;
};

struct TokenLogprob {
    std::int32_t id = 0;
    float logprob = 0.0F;
    std::string bytes;  // any bytes, not always UTF-8
};
struct PickedLogprob {
    float logprob = 0.0F;
    std::string bytes;
    std::vector<TokenLogprob> top;  // likeliest first
};
struct Delta {
    std::uint64_t number = 0;  // 0, 1, 2, … within a generation
    std::string text{};        // whole characters
    std::vector<std::int32_t> ids{};
    std::vector<PickedLogprob> logprobs{};  // one per id when asked for, else empty
};

enum class FinishReason : std::uint8_t { stop, length, cancelled };

struct Timings {
    std::int32_t prompt_tokens = 0;
    std::int32_t cached_tokens = 0;
    std::int32_t generated_tokens = 0;
    double queue_ms = 0;  // in the worker; daemon/generate adds the time before it
    double prompt_ms = 0;
    double generation_ms = 0;
};
struct Done {
    FinishReason reason = FinishReason::stop;
    std::string stop_string{};
    Timings timings{};
};
// A generation ended with an error, or was never accepted.
struct Failure {
    Error error;
};

struct Stats {
    int running = 0;
    int waiting = 0;
    int pages_free = 0;
    int pages_total = 0;
    std::uint64_t steps = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint64_t generated_tokens = 0;
};

struct Piece {
    std::string text;   // control tokens as in the vocabulary; else the bytes, repaired
    std::string bytes;  // any bytes, not always UTF-8; none for control tokens
};
struct Tokens {
    std::string text;  // when asked for
    std::vector<std::int32_t> ids;
    std::vector<Piece> pieces;  // when asked for; one per id
};

using FromWorker = std::variant<Ready, Failed, Accepted, Delta, Done, Failure, Stats, Tokens>;

}  // namespace hearth::wire
