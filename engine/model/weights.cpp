// Names and shapes of the tensors of a llama-family file.
#include "engine/model/weights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "engine/model/floats.h"

namespace hearth::model {

namespace {

struct Shape {
    int rows;
    int cols;
};

struct Part {
    std::string name;
    int rows;
};

std::string text(Shape shape) {
    return "[" + std::to_string(shape.rows) + ", " + std::to_string(shape.cols) + "]";
}

// Uploads tensor by tensor and remembers which were used.
class Binder {
public:
    Binder(Ops& ops, const gguf::File& file) : ops_(ops), file_(file) {}

    // One weight of the rows of several tensors, in order.
    Result<void> weight(std::span<const Part> parts, int cols, Weight& out) {
        std::vector<RowSegment> segments;
        for (const Part& part : parts) {
            HEARTH_TRY(const gguf::TensorInfo* tensor, find(part.name, {part.rows, cols}));
            segments.push_back({tensor->type, part.rows, file_.data(*tensor)});
        }
        HEARTH_TRY(out, ops_.upload(segments, cols));
        summary_.bytes += out.bytes;
        return {};
    }
    Result<void> weight(const std::string& name, Shape shape, Weight& out) {
        const std::array parts{Part{name, shape.rows}};
        return weight(parts, shape.cols, out);
    }
    // A vector [1, cols] that ops read as f32.
    Result<void> vector(const std::string& name, int cols, Buffer& out) {
        HEARTH_TRY(const gguf::TensorInfo* tensor, find(name, {1, cols}));
        if (tensor->type != DType::f32)
            return Error{
                ErrorCode::unsupported_model,
                name + " has type " + std::string(to_string(tensor->type)) + "; norms must be F32"};
        HEARTH_TRY(out, ops_.allocate(1, cols));
        ops_.write(read_floats(file_.data(*tensor)), out.view);
        summary_.bytes += tensor->bytes;
        return {};
    }
    bool has(const std::string& name) const { return file_.find(name) != nullptr; }
    void accept(std::string_view name) { used_.insert(name); }

    // Fails when the file has a tensor that nothing asked for.
    Result<void> refuse_rest() const {
        for (const gguf::TensorInfo& tensor : file_.tensors())
            if (!used_.contains(tensor.name))
                return Error{ErrorCode::unsupported_model,
                             "the tensor " + tensor.name.substr(0, 100) +
                                 " is not part of the models that this version runs"};
        return {};
    }
    WeightSummary summary() const {
        WeightSummary result = summary_;
        std::uint64_t most = 0;
        for (const auto& [type, parameters] : parameters_) {
            if (parameters > most) result.main_type = type;
            most = std::max(most, parameters);
        }
        return result;
    }

private:
    Result<const gguf::TensorInfo*> find(const std::string& name, Shape shape) {
        const gguf::TensorInfo* tensor = file_.find(name);
        if (tensor == nullptr)
            return Error{ErrorCode::model_invalid, "the tensor " + name + " is missing"};
        const bool fits = tensor->n_dims <= 2 &&
                          tensor->cols() == static_cast<std::uint64_t>(shape.cols) &&
                          tensor->rows() == static_cast<std::uint64_t>(shape.rows);
        if (!fits)
            return Error{ErrorCode::model_invalid, "the tensor " + name + " has shape [" +
                                                       std::to_string(tensor->rows()) + ", " +
                                                       std::to_string(tensor->cols()) +
                                                       "], but the model needs " + text(shape)};
        used_.insert(tensor->name);
        const auto parameters =
            static_cast<std::uint64_t>(shape.rows) * static_cast<std::uint64_t>(shape.cols);
        summary_.parameters += parameters;
        parameters_[tensor->type] += parameters;
        return tensor;
    }

    Ops& ops_;
    const gguf::File& file_;
    std::set<std::string_view> used_;  // names, which the file owns
    std::map<DType, std::uint64_t> parameters_;
    WeightSummary summary_;
};

Result<void> bind_layer(Binder& binder, const ModelConfig& config, int layer, LayerWeights& out) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const std::array qkv{Part{prefix + "attn_q.weight", config.q_width()},
                         Part{prefix + "attn_k.weight", config.kv_width()},
                         Part{prefix + "attn_v.weight", config.kv_width()}};
    const std::array gate_up{Part{prefix + "ffn_gate.weight", config.ffn_width},
                             Part{prefix + "ffn_up.weight", config.ffn_width}};
    HEARTH_TRY_VOID(binder.vector(prefix + "attn_norm.weight", config.width, out.attention_norm));
    HEARTH_TRY_VOID(binder.weight(qkv, config.width, out.qkv));
    HEARTH_TRY_VOID(
        binder.weight(prefix + "attn_output.weight", {config.width, config.q_width()}, out.out));
    HEARTH_TRY_VOID(binder.vector(prefix + "ffn_norm.weight", config.width, out.ffn_norm));
    HEARTH_TRY_VOID(binder.weight(gate_up, config.width, out.gate_up));
    return binder.weight(prefix + "ffn_down.weight", {config.width, config.ffn_width}, out.down);
}

}  // namespace

Result<BoundWeights> bind_weights(Ops& ops, const gguf::File& file, const ModelConfig& config) {
    Binder binder(ops, file);
    ModelWeights weights;
    const Shape vocabulary{config.vocabulary, config.width};
    HEARTH_TRY_VOID(binder.weight("token_embd.weight", vocabulary, weights.embedding));
    for (int layer = 0; layer < config.layers; ++layer)
        HEARTH_TRY_VOID(bind_layer(binder, config, layer, weights.layers.emplace_back()));
    HEARTH_TRY_VOID(binder.vector("output_norm.weight", config.width, weights.final_norm));
    if (binder.has("output.weight"))
        HEARTH_TRY_VOID(binder.weight("output.weight", vocabulary, weights.head.emplace()));
    if (!config.rope.frequency_factors.empty()) binder.accept("rope_freqs.weight");
    HEARTH_TRY_VOID(binder.refuse_rest());
    WeightSummary summary = binder.summary();
    summary.streamed_bytes = summary.bytes - (weights.head ? weights.embedding.bytes : 0);
    return BoundWeights{std::move(weights), summary};
}

}  // namespace hearth::model
