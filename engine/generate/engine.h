// The door of the engine: one loaded model that answers requests. The text side (template, tokens,
// characters, stop strings) happens here; engine/serve below knows token ids only.
//
// Thread-safe: submit and cancel may be called from any thread. Events come on thread
// "hearth-engine".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/mapped_file.h"
#include "engine/base/result.h"
#include "engine/chat/template.h"
#include "engine/generate/request.h"
#include "engine/tensor/dtype.h"
#include "engine/text/tokenizer.h"

namespace hearth {

struct EngineOptions {
    std::string backend = "auto";
    int threads = 0;           // 0: one per physical core
    int context = 0;           // tokens per sequence; 0: the model's own, as far as memory allows
    std::size_t kv_bytes = 0;  // budget for keys and values; 0: a share of what is free
    DType key_type = DType::f16;
    DType value_type = DType::f16;
    int step_tokens = 512;   // most rows of one step
    int max_sequences = 64;  // running at once
    int max_waiting = 256;   // then submit answers busy
};

struct ModelInfo {
    std::string architecture;
    std::string name;
    std::string quantization;  // the type that holds most weights, "Q4_1"
    std::string backend;       // what runs, for people
    int context = 0;           // tokens per sequence here
    int trained_context = 0;
    int layers = 0;
    int width = 0;
    int vocabulary = 0;
    std::uint64_t parameters = 0;
    std::uint64_t weight_bytes = 0;
    std::uint64_t kv_bytes_per_token = 0;
    std::uint64_t kv_bytes = 0;  // the budget
    bool has_chat_template = false;
    std::string chat_unavailable;  // why not, when a template is there but does not parse
    std::string fingerprint;  // weights, rope, cache types, page layout, version of the numerics
};

struct EngineStats {
    int running = 0;
    int waiting = 0;
    int pages_free = 0;
    int pages_total = 0;
    std::uint64_t steps = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint64_t generated_tokens = 0;
};

class Engine {
public:
    virtual ~Engine() = default;  // cancels what runs, joins the thread

    // Loads a model: reads, checks, uploads, closes the mapping.
    static Result<std::unique_ptr<Engine>> open(MappedFile file, const EngineOptions& options);

    virtual const ModelInfo& info() const = 0;
    virtual EngineStats stats() const = 0;
    virtual const text::Tokenizer& tokenizer() const = 0;
    // The prompt text of a chat, and its ids. template_failed when the model has no usable
    // template.
    virtual Result<MarkedText> render(const chat::Value& variables) const = 0;

    // Text and ids of a prompt, as submit would read it; text for a chat only. `add_bos`:
    // whether the begin token comes first; missing: as the model wants it. An empty prompt is no
    // error here. Errors as those of submit, but for limits.
    virtual Result<PromptTokens> tokenize(const Prompt& prompt,
                                          std::optional<bool> add_bos) const = 0;

    // `generation` is the caller's name for it and must be unique among those that run. Template,
    // tokens and limits are checked on the calling thread: bad_input, context_exceeded (both
    // numbers), template_failed, busy. Then Accepted is the first event. The sink must live until
    // the last event.
    virtual Result<void> submit(std::uint64_t generation, GenerateRequest request,
                                EventSink& sink) = 0;
    // Ends within one step with Done{cancelled}. Unknown generations are ignored.
    virtual void cancel(std::uint64_t generation) = 0;
};

}  // namespace hearth
