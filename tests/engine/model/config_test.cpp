// Files that are not what they should be: every number is refused by name before anything is sized
// by it, and what the forward pass does not know is refused rather than ignored. The files are
// tiny-llama with one thing changed.
#include "engine/model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "engine/base/mapped_file.h"
#include "engine/gguf/writer.h"
#include "engine/model/families.h"
#include "engine/reference/reference_ops.h"
#include "tests/support/paths.h"

namespace hearth::testing {
namespace {

using gguf::Value;
using gguf::ValueType;
using ::testing::HasSubstr;

Value integer(std::int64_t value) {
    Value out{ValueType::i64, {}};
    out.data = value;
    return out;
}
Value number(double value) {
    Value out{ValueType::f32, {}};
    out.data = value;
    return out;
}
Value string(std::string value) {
    Value out{ValueType::string, {}};
    out.data = std::move(value);
    return out;
}

struct Tensor {
    gguf::TensorPlan plan;
    std::vector<std::byte> data;
};

struct Change {
    std::string key;
    std::optional<Value> value;  // absent: the key is left out
};

// The error of loading tiny-llama with the changes, or an empty one.
class ChangedModel {
public:
    ChangedModel()
        : source_(std::move(MappedFile::open(tiny_model_path())).value()),
          file_(std::move(gguf::File::read(source_.bytes())).value()) {}

    std::optional<Error> error(const std::vector<Change>& changes,
                               const std::function<void(std::vector<Tensor>&)>& edit = nullptr) {
        std::vector<Tensor> tensors;
        for (const gguf::TensorInfo& info : file_.tensors()) {
            const auto data = file_.data(info);
            const std::vector<std::uint64_t> dims(info.dims.begin(),
                                                  info.dims.begin() + info.n_dims);
            tensors.push_back({{info.name, info.type, dims}, {data.begin(), data.end()}});
        }
        if (edit) edit(tensors);
        write(changes, tensors);
        const MappedFile mapped = std::move(MappedFile::open(path_)).value();
        const gguf::File changed = std::move(gguf::File::read(mapped.bytes())).value();
        const auto ops = make_reference_ops();
        const auto model = model::load(*ops, changed, 0);
        if (model) return std::nullopt;
        return model.error();
    }

private:
    void write(const std::vector<Change>& changes, const std::vector<Tensor>& tensors) {
        gguf::Metadata metadata;
        for (const Change& change : changes)
            if (change.value) metadata.insert(change.key, *change.value);
        for (const auto& [key, value] : file_.metadata().values()) {
            bool is_removed = false;
            for (const Change& change : changes)
                is_removed = is_removed || (change.key == key && !change.value);
            if (!is_removed) metadata.insert(key, value);
        }
        std::vector<gguf::TensorPlan> plans;
        for (const Tensor& tensor : tensors) plans.push_back(tensor.plan);
        auto writer = std::move(gguf::Writer::create(path_, metadata, plans)).value();
        for (const Tensor& tensor : tensors) ASSERT_TRUE(writer.append(tensor.data));
        ASSERT_TRUE(writer.finish());
    }

    MappedFile source_;
    gguf::File file_;
    TempDir dir_;
    std::string path_ = dir_.file("changed.gguf");
};

TEST(ModelConfig, ReadsTheTinyModel) {
    const MappedFile mapped = std::move(MappedFile::open(tiny_model_path())).value();
    const gguf::File file = std::move(gguf::File::read(mapped.bytes())).value();
    const auto config = model::read_config(file);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->layers, 2);
    EXPECT_EQ(config->width, 64);
    EXPECT_EQ(config->heads, 4);
    EXPECT_EQ(config->kv_heads, 2);
    EXPECT_EQ(config->head_dim, 16);
    EXPECT_EQ(config->ffn_width, 96);
    EXPECT_EQ(config->vocabulary, 320);
    EXPECT_EQ(config->trained_context, 1024);
    EXPECT_EQ(config->attention().scale, 0.25F);
}

TEST(ModelConfig, UnchangedCopyLoads) { EXPECT_FALSE(ChangedModel().error({}).has_value()); }

TEST(ModelConfig, ValuesOutOfRangeAreInvalidAndNamed) {
    const std::pair<const char*, std::optional<Value>> cases[] = {
        {"llama.block_count", integer(0)},
        {"llama.block_count", integer(513)},
        {"llama.block_count", integer(std::int64_t{1} << 31)},
        {"llama.block_count", integer(-1)},
        {"llama.block_count", string("two")},
        {"llama.block_count", std::nullopt},
        {"llama.embedding_length", integer(0)},
        {"llama.embedding_length", integer(std::int64_t{1} << 40)},
        {"llama.feed_forward_length", integer(0)},
        {"llama.context_length", integer(0)},
        {"llama.attention.head_count", integer(0)},
        {"llama.attention.head_count", integer(3)},
        {"llama.attention.head_count", integer(64)},
        {"llama.attention.head_count_kv", integer(0)},
        {"llama.attention.head_count_kv", integer(3)},
        {"llama.attention.head_count_kv", integer(8)},
        {"llama.attention.key_length", integer(15)},
        {"llama.attention.key_length", integer(1 << 20)},
        {"llama.attention.layer_norm_rms_epsilon", std::nullopt},
        {"llama.attention.layer_norm_rms_epsilon",
         number(std::numeric_limits<double>::quiet_NaN())},
        {"llama.attention.layer_norm_rms_epsilon", number(0)},
        {"llama.attention.layer_norm_rms_epsilon", number(-1e-5)},
        {"llama.attention.layer_norm_rms_epsilon", number(10)},
        {"llama.rope.dimension_count", integer(17)},
        {"llama.rope.dimension_count", integer(32)},
        {"llama.rope.freq_base", number(0)},
        {"llama.rope.freq_base", number(std::numeric_limits<double>::infinity())},
        {"llama.vocab_size", integer(321)},
        {"llama.vocab_size", integer(0)},
    };
    ChangedModel changed;
    for (const auto& [key, value] : cases) {
        SCOPED_TRACE(key);
        const auto error = changed.error({{key, value}});
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::model_invalid) << error->message;
        EXPECT_THAT(error->message, HasSubstr(key));
    }
}

TEST(ModelConfig, VariantsThatComputeSomethingElseAreUnsupportedAndNamed) {
    const std::pair<const char*, Value> cases[] = {
        {"llama.expert_count", integer(8)},
        {"llama.attention.sliding_window", integer(128)},
        {"llama.attention.value_length", integer(32)},
        {"llama.rope.scaling.type", string("longrope")},
        {"llama.logit_scale", number(0.5)},
    };
    ChangedModel changed;
    for (const auto& [key, value] : cases) {
        SCOPED_TRACE(key);
        const auto error = changed.error({{key, value}});
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::unsupported_model) << error->message;
        EXPECT_THAT(error->message, HasSubstr(key));
    }
}

TEST(ModelConfig, AnUnknownArchitectureIsNamedTogetherWithWhatIsSupported) {
    const auto error = ChangedModel().error({{"general.architecture", string("mamba")}});
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::unsupported_model);
    EXPECT_THAT(error->message, HasSubstr("mamba"));
    EXPECT_THAT(error->message, HasSubstr("supported are: llama"));
}

TEST(ModelWeights, AMissingTensorIsNamed) {
    const auto error = ChangedModel().error({}, [](std::vector<Tensor>& tensors) {
        std::erase_if(tensors,
                      [](const Tensor& t) { return t.plan.name == "blk.1.ffn_up.weight"; });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::model_invalid);
    EXPECT_THAT(error->message, HasSubstr("blk.1.ffn_up.weight"));
}

TEST(ModelWeights, ATensorOfAnotherShapeIsNamedWithBothShapes) {
    const auto error = ChangedModel().error({}, [](std::vector<Tensor>& tensors) {
        for (Tensor& t : tensors)
            if (t.plan.name == "blk.0.attn_k.weight") t.plan.dims = {32, 64};
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::model_invalid);
    EXPECT_THAT(error->message, HasSubstr("blk.0.attn_k.weight"));
    EXPECT_THAT(error->message, HasSubstr("[64, 32]"));
    EXPECT_THAT(error->message, HasSubstr("[32, 64]"));
}

TEST(ModelWeights, ATensorThatNothingReadsIsRefused) {
    for (const char* name :
         {"blk.0.attn_q.bias", "blk.0.ffn_gate_exps.weight", "blk.2.attn_q.weight"}) {
        const auto error = ChangedModel().error({}, [&](std::vector<Tensor>& tensors) {
            tensors.push_back({{name, DType::f32, {1}}, std::vector<std::byte>(4)});
        });
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::unsupported_model);
        EXPECT_THAT(error->message, HasSubstr(name));
    }
}

TEST(ModelWeights, WithoutAHeadTheEmbeddingServesAsHead) {
    const auto error = ChangedModel().error({}, [](std::vector<Tensor>& tensors) {
        std::erase_if(tensors, [](const Tensor& t) { return t.plan.name == "output.weight"; });
    });
    EXPECT_FALSE(error.has_value());
}

}  // namespace
}  // namespace hearth::testing
