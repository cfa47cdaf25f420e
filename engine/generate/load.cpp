// Loading: everything is checked before the large allocations, and the file is closed at the end.
#include "engine/generate/load.h"

#include <string>
#include <string_view>
#include <utility>

#include "engine/generate/fingerprint.h"
#include "engine/generate/memory_plan.h"
#include "engine/gguf/reader.h"
#include "engine/model/families.h"
#include "engine/state/full_kv.h"

namespace hearth::generate {

namespace {

Result<void> check_options(const EngineOptions& options) {
    const auto refuse = [](const std::string& what) {
        return Error{ErrorCode::bad_input, "engine options: " + what};
    };
    if (options.context < 0) return refuse("context is negative");
    if (options.step_tokens < 1 || options.step_tokens > 65536)
        return refuse("step_tokens must be from 1 to 65536");
    if (options.max_sequences < 1 || options.max_sequences > options.step_tokens)
        return refuse("max_sequences must be from 1 to step_tokens");
    if (options.max_waiting < 0) return refuse("max_waiting is negative");
    for (const DType type : {options.key_type, options.value_type})
        if (type != DType::f16 && type != DType::f32)
            return refuse("keys and values can be F16 or F32, not " + std::string(to_string(type)));
    return {};
}

// A template that does not parse leaves a model that can still complete text.
void parse_template(const gguf::Metadata& metadata, LoadedModel& loaded) {
    const auto source = metadata.string_or("tokenizer.chat_template", "");
    if (!source) {
        loaded.info.chat_unavailable = source.error().message;
        return;
    }
    if (source->empty()) return;
    loaded.info.has_chat_template = true;
    loaded.knows_developer = source->find("developer") != std::string::npos;
    Result<chat::Template> parsed = chat::Template::parse(*source);
    if (parsed)
        loaded.chat_template = std::move(parsed).value();
    else
        loaded.info.chat_unavailable = parsed.error().message;
}

// Changes with everything that decides the bits of keys and values beside the file.
std::string state_settings(const EngineOptions& options) {
    return "numerics " + std::to_string(kNumericsVersion) + ", page " +
           std::to_string(kPagePositions) + ", chunk " + std::to_string(kChunkPositions) +
           ", keys " + std::string(to_string(options.key_type)) + ", values " +
           std::string(to_string(options.value_type));
}

ModelInfo describe(const LoadedModel& loaded, const MemoryPlan& plan, const KvShape& shape) {
    const model::ModelConfig& config = loaded.model->config();
    const model::WeightSummary& summary = loaded.model->summary();
    ModelInfo info;
    info.architecture = config.architecture;
    info.name = config.name;
    info.quantization = to_string(summary.main_type);
    info.backend = loaded.ops->description();
    info.context = plan.context;
    info.trained_context = config.trained_context;
    info.layers = config.layers;
    info.width = config.width;
    info.vocabulary = config.vocabulary;
    info.parameters = summary.parameters;
    info.weight_bytes = summary.bytes;
    info.kv_bytes_per_token = state::kv_bytes_per_position(shape);
    info.kv_bytes =
        info.kv_bytes_per_token * kPagePositions * static_cast<std::uint64_t>(plan.pages);
    return info;
}

}  // namespace

Result<LoadedModel> load_model(MappedFile file, const EngineOptions& options,
                               std::unique_ptr<Ops> ops) {
    HEARTH_TRY_VOID(check_options(options));
    HEARTH_TRY(const gguf::File gguf, gguf::File::read(file.bytes()));
    HEARTH_TRY(const model::ModelConfig config, model::read_config(gguf));
    HEARTH_TRY(text::Tokenizer tokenizer, text::Tokenizer::load(gguf.metadata()));
    if (tokenizer.size() != config.vocabulary)
        return Error{ErrorCode::model_invalid, "tokenizer.ggml.tokens has " +
                                                   std::to_string(tokenizer.size()) +
                                                   " tokens, but token_embd.weight has " +
                                                   std::to_string(config.vocabulary) + " rows"};
    const KvShape shape{.layers = config.layers,
                        .heads = config.kv_heads,
                        .head_dim = config.head_dim,
                        .key_type = options.key_type,
                        .value_type = options.value_type,
                        .pages = 0};
    const std::uint64_t available = available_memory();
    const std::uint64_t file_bytes = file.bytes().size();
    HEARTH_TRY_VOID(check_weights_fit(file_bytes, available));
    HEARTH_TRY(const MemoryPlan plan,
               plan_memory(shape, config.trained_context, options, available - file_bytes));
    HEARTH_TRY(auto model, model::load(*ops, gguf, plan.context));
    LoadedModel loaded{.ops = std::move(ops),
                       .model = std::move(model),
                       .tokenizer = std::move(tokenizer),
                       .chat_template = std::nullopt,
                       .knows_developer = false,
                       .info = {},
                       .pages = plan.pages};
    loaded.info = describe(loaded, plan, shape);
    parse_template(gguf.metadata(), loaded);
    loaded.info.fingerprint = fingerprint(file.bytes(), state_settings(options));
    return loaded;
}

}  // namespace hearth::generate
