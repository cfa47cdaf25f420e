// Keys of the llama family. No number leaves this file unchecked.
#include "engine/model/config.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "engine/model/floats.h"

namespace hearth::model {

AttentionConfig ModelConfig::attention() const {
    return {.heads = heads,
            .kv_heads = kv_heads,
            .head_dim = head_dim,
            .scale = 1.0F / std::sqrt(static_cast<float>(head_dim))};
}

namespace {

constexpr gguf::IntRange kLayers{1, 512};
constexpr gguf::IntRange kWidth{1, 65536};
constexpr gguf::IntRange kHeads{1, 1024};
constexpr gguf::IntRange kHeadDim{2, 1024};
constexpr gguf::IntRange kFfnWidth{1, 1 << 20};
constexpr gguf::IntRange kVocabulary{1, 1 << 21};
constexpr gguf::IntRange kContext{1, 1 << 24};
// The attention of one row holds heads * head_dim values.
constexpr int kMaxQueryWidth = 1 << 18;

Error invalid(std::string message) { return {ErrorCode::model_invalid, std::move(message)}; }
Error unsupported(std::string message) {
    return {ErrorCode::unsupported_model, std::move(message)};
}

// The metadata of one architecture: keys begin with its name.
class Keys {
public:
    Keys(const gguf::Metadata& metadata, std::string architecture)
        : metadata_(metadata), prefix_(std::move(architecture) + ".") {}

    std::string full(std::string_view key) const { return prefix_ + std::string(key); }
    bool has(std::string_view key) const { return metadata_.has(full(key)); }

    Result<void> integer(std::string_view key, gguf::IntRange range, int& out) const {
        HEARTH_TRY(const std::int64_t value, metadata_.integer(full(key), range));
        out = static_cast<int>(value);
        return {};
    }
    Result<void> integer_or(std::string_view key, gguf::IntRange range, int fallback,
                            int& out) const {
        HEARTH_TRY(const std::int64_t value, metadata_.integer_or(full(key), range, fallback));
        out = static_cast<int>(value);
        return {};
    }
    // In [min, max]; NaN is refused by the getter.
    Result<void> number_or(std::string_view key, std::pair<double, double> range, double fallback,
                           double& out) const {
        HEARTH_TRY(const float value, metadata_.number_or(full(key), static_cast<float>(fallback)));
        if (!(value >= range.first && value <= range.second))
            return invalid(full(key) + " is " + std::to_string(value) +
                           ", outside of what any model has");
        out = has(key) ? static_cast<double>(value) : fallback;
        return {};
    }
    Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const {
        return metadata_.string_or(full(key), fallback);
    }

private:
    const gguf::Metadata& metadata_;
    std::string prefix_;
};

Result<void> read_sizes(const Keys& keys, ModelConfig& config) {
    HEARTH_TRY_VOID(keys.integer("block_count", kLayers, config.layers));
    HEARTH_TRY_VOID(keys.integer("embedding_length", kWidth, config.width));
    HEARTH_TRY_VOID(keys.integer("feed_forward_length", kFfnWidth, config.ffn_width));
    HEARTH_TRY_VOID(keys.integer("context_length", kContext, config.trained_context));
    HEARTH_TRY_VOID(keys.integer("attention.head_count", kHeads, config.heads));
    HEARTH_TRY_VOID(
        keys.integer_or("attention.head_count_kv", kHeads, config.heads, config.kv_heads));
    if (config.heads % config.kv_heads != 0)
        return invalid(keys.full("attention.head_count_kv") + " is " +
                       std::to_string(config.kv_heads) + ", which does not divide " +
                       std::to_string(config.heads) + " heads");
    const bool names_head_dim = keys.has("attention.key_length");
    if (!names_head_dim && config.width % config.heads != 0)
        return invalid(keys.full("attention.head_count") + " is " + std::to_string(config.heads) +
                       ", which does not divide the width of " + std::to_string(config.width));
    HEARTH_TRY_VOID(keys.integer_or("attention.key_length", kHeadDim, config.width / config.heads,
                                    config.head_dim));
    if (config.head_dim < kHeadDim.min || config.head_dim > kHeadDim.max ||
        config.head_dim % 2 != 0)
        return invalid(keys.full(names_head_dim ? "attention.key_length" : "attention.head_count") +
                       " gives heads of " + std::to_string(config.head_dim) +
                       " channels; an even number from 2 to 1024 is needed");
    if (config.q_width() > kMaxQueryWidth)
        return invalid(keys.full("attention.head_count") + ": " + std::to_string(config.heads) +
                       " heads of " + std::to_string(config.head_dim) + " channels are too wide");
    int value_length = 0;
    HEARTH_TRY_VOID(
        keys.integer_or("attention.value_length", kHeadDim, config.head_dim, value_length));
    if (value_length != config.head_dim)
        return unsupported(keys.full("attention.value_length") +
                           ": values of another length than keys are not supported");
    return {};
}

Result<void> read_norm(const Keys& keys, ModelConfig& config) {
    if (!keys.has("attention.layer_norm_rms_epsilon"))
        return invalid(keys.full("attention.layer_norm_rms_epsilon") + " is missing");
    double eps = 0;
    HEARTH_TRY_VOID(keys.number_or("attention.layer_norm_rms_epsilon", {1e-30, 0.1}, 0, eps));
    config.norm_eps = static_cast<float>(eps);
    return {};
}

Result<void> read_yarn(const Keys& keys, RopeConfig& rope) {
    constexpr std::pair kPositive{1e-6, 1e6};
    HEARTH_TRY_VOID(
        keys.integer("rope.scaling.original_context_length", kContext, rope.original_context));
    HEARTH_TRY_VOID(
        keys.number_or("rope.scaling.yarn_ext_factor", {0, 1}, 1.0, rope.yarn_extrapolation));
    const std::string_view attention_key = keys.has("rope.scaling.attn_factor")
                                               ? "rope.scaling.attn_factor"
                                               : "rope.scaling.yarn_attn_factor";
    HEARTH_TRY_VOID(keys.number_or(attention_key, kPositive, 1.0, rope.yarn_attention));
    HEARTH_TRY_VOID(
        keys.number_or("rope.scaling.yarn_beta_fast", kPositive, 32.0, rope.yarn_beta_fast));
    HEARTH_TRY_VOID(
        keys.number_or("rope.scaling.yarn_beta_slow", kPositive, 1.0, rope.yarn_beta_slow));
    if (keys.has("rope.scaling.yarn_log_multiplier"))
        return unsupported(keys.full("rope.scaling.yarn_log_multiplier") + " is not supported");
    return {};
}

Result<void> read_rope_scaling(const Keys& keys, RopeConfig& rope) {
    HEARTH_TRY(const std::string_view kind, keys.string_or("rope.scaling.type", ""));
    // Files from before the key had a type name the linear factor alone.
    const std::string_view factor_key =
        keys.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
    HEARTH_TRY_VOID(keys.number_or(factor_key, {0, 1e6}, 1.0, rope.factor));
    if (rope.factor == 0) rope.factor = 1.0;  // how some files say "none"
    if (kind == "none" || (kind.empty() && rope.factor == 1.0)) {
        rope.factor = 1.0;
        return {};
    }
    if (kind == "linear" || kind.empty()) {
        rope.scaling = RopeScaling::linear;
        return {};
    }
    if (kind == "yarn") {
        rope.scaling = RopeScaling::yarn;
        return read_yarn(keys, rope);
    }
    return unsupported(
        keys.full("rope.scaling.type") + " is \"" + std::string(kind.substr(0, 40)) +
        "\"; supported are none, linear, yarn, and the frequency factors of Llama 3");
}

// Divisors of the frequencies, one per rotated pair: how files carry the scaling of Llama 3.
Result<void> read_frequency_factors(const gguf::File& file, RopeConfig& rope) {
    const gguf::TensorInfo* tensor = file.find("rope_freqs.weight");
    if (tensor == nullptr) return {};
    const auto pairs = static_cast<std::uint64_t>(rope.dims / 2);
    if (tensor->type != DType::f32 || tensor->cols() != pairs || tensor->rows() != 1)
        return invalid("rope_freqs.weight must hold " + std::to_string(pairs) + " F32 values");
    if (rope.scaling != RopeScaling::none)
        return unsupported("rope_freqs.weight together with another kind of RoPE scaling");
    rope.scaling = RopeScaling::llama3;
    rope.frequency_factors = read_floats(file.data(*tensor));
    for (const float factor : rope.frequency_factors)
        if (!(factor >= 1e-6F && factor <= 1e6F))
            return invalid("rope_freqs.weight holds " + std::to_string(factor) +
                           ", which no frequency can be divided by");
    return {};
}

Result<void> read_rope(const gguf::File& file, const Keys& keys, ModelConfig& config) {
    RopeConfig& rope = config.rope;
    HEARTH_TRY_VOID(keys.integer_or("rope.dimension_count", kHeadDim, config.head_dim, rope.dims));
    if (rope.dims > config.head_dim || rope.dims % 2 != 0)
        return invalid(keys.full("rope.dimension_count") + " is " + std::to_string(rope.dims) +
                       "; it must be even and at most the head's " +
                       std::to_string(config.head_dim) + " channels");
    HEARTH_TRY_VOID(keys.number_or("rope.freq_base", {1.0, 1e12}, 10000.0, rope.base));
    HEARTH_TRY_VOID(read_rope_scaling(keys, rope));
    return read_frequency_factors(file, rope);
}

// What the vocabulary says has to agree with the embedding: ids are used as its rows.
Result<void> read_vocabulary(const gguf::File& file, const Keys& keys, ModelConfig& config) {
    const gguf::TensorInfo* embedding = file.find("token_embd.weight");
    if (embedding == nullptr) return invalid("the tensor token_embd.weight is missing");
    const std::uint64_t rows = embedding->rows();
    if (rows < 1 || rows > static_cast<std::uint64_t>(kVocabulary.max))
        return invalid("token_embd.weight has " + std::to_string(rows) + " rows; from 1 to " +
                       std::to_string(kVocabulary.max) + " are possible");
    config.vocabulary = static_cast<int>(rows);
    int named = 0;
    HEARTH_TRY_VOID(keys.integer_or("vocab_size", kVocabulary, config.vocabulary, named));
    if (named != config.vocabulary)
        return invalid(keys.full("vocab_size") + " is " + std::to_string(named) +
                       ", but token_embd.weight has " + std::to_string(rows) + " rows");
    return {};
}

// Keys of variants whose forward pass differs: refused, never ignored.
Result<void> refuse_variants(const Keys& keys, const ModelConfig& config) {
    int experts = 0;
    HEARTH_TRY_VOID(keys.integer_or("expert_count", {0, 1 << 16}, 0, experts));
    if (experts > 0)
        return unsupported(keys.full("expert_count") + " is " + std::to_string(experts) +
                           ": models with experts are not supported");
    int window = 0;
    HEARTH_TRY_VOID(keys.integer_or("attention.sliding_window", {0, 1 << 30}, 0, window));
    if (window > 0 && window < config.trained_context)
        return unsupported(keys.full("attention.sliding_window") + " is " + std::to_string(window) +
                           ": sliding-window attention is not supported");
    if (config.rope.scaling != RopeScaling::yarn && keys.has("rope.scaling.attn_factor"))
        return unsupported(keys.full("rope.scaling.attn_factor") +
                           " without YaRN is not supported");
    for (const std::string_view key :
         {"logit_scale", "embedding_scale", "residual_scale", "attention.scale",
          "attention.clamp_kqv", "rope.scaling.alpha", "rope.dimension_sections"})
        if (keys.has(key)) return unsupported(keys.full(key) + " is not supported");
    return {};
}

}  // namespace

Result<ModelConfig> read_config(const gguf::File& file) {
    ModelConfig config;
    HEARTH_TRY(const std::string_view architecture, file.metadata().string("general.architecture"));
    config.architecture = architecture;
    HEARTH_TRY(const std::string_view name, file.metadata().string_or("general.name", ""));
    config.name = name;
    const Keys keys(file.metadata(), config.architecture);
    HEARTH_TRY_VOID(read_sizes(keys, config));
    HEARTH_TRY_VOID(read_norm(keys, config));
    HEARTH_TRY_VOID(read_rope(file, keys, config));
    HEARTH_TRY_VOID(read_vocabulary(file, keys, config));
    HEARTH_TRY_VOID(refuse_variants(keys, config));
    return config;
}

}  // namespace hearth::model
