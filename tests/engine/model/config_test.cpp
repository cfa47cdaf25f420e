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
#include "engine/model/families.h"
#include "engine/reference/reference_ops.h"
#include "tests/support/changed_gguf.h"
#include "tests/support/paths.h"

namespace hearth::testing {
namespace {

using gguf::Value;
using ::testing::HasSubstr;

// The error of loading tiny-llama with the changes, if there is one.
std::optional<Error> error_of(const Changes& changes) {
    const TempDir dir;
    const std::string path = dir.file("changed.gguf");
    write_changed(tiny_model_path(), path, changes);
    const MappedFile mapped = std::move(MappedFile::open(path)).value();
    const gguf::File file = std::move(gguf::File::read(mapped.bytes())).value();
    const auto ops = make_reference_ops();
    const auto model = model::load(*ops, file, 0);
    if (model) return std::nullopt;
    return model.error();
}

std::optional<Error> error_of_key(const std::string& key, const std::optional<Value>& value) {
    return error_of({.keys = {{key, value}}});
}

std::optional<Error> error_of_edit(std::function<void(std::vector<EditableTensor>&)> edit) {
    return error_of({.keys = {}, .edit = std::move(edit)});
}

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

TEST(ModelConfig, UnchangedCopyLoads) { EXPECT_FALSE(error_of({}).has_value()); }

TEST(T008, ValuesOutOfRangeAreInvalidAndNamed) {
    const std::pair<const char*, std::optional<Value>> cases[] = {
        {"llama.block_count", integer_value(0)},
        {"llama.block_count", integer_value(513)},
        {"llama.block_count", integer_value(std::int64_t{1} << 31)},
        {"llama.block_count", integer_value(-1)},
        {"llama.block_count", string_value("two")},
        {"llama.block_count", std::nullopt},
        {"llama.embedding_length", integer_value(0)},
        {"llama.embedding_length", integer_value(std::int64_t{1} << 40)},
        {"llama.feed_forward_length", integer_value(0)},
        {"llama.context_length", integer_value(0)},
        {"llama.attention.head_count", integer_value(0)},
        {"llama.attention.head_count", integer_value(3)},
        {"llama.attention.head_count", integer_value(64)},
        {"llama.attention.head_count_kv", integer_value(0)},
        {"llama.attention.head_count_kv", integer_value(3)},
        {"llama.attention.head_count_kv", integer_value(8)},
        {"llama.attention.key_length", integer_value(15)},
        {"llama.attention.key_length", integer_value(1 << 20)},
        {"llama.attention.layer_norm_rms_epsilon", std::nullopt},
        {"llama.attention.layer_norm_rms_epsilon",
         number_value(std::numeric_limits<double>::quiet_NaN())},
        {"llama.attention.layer_norm_rms_epsilon", number_value(0)},
        {"llama.attention.layer_norm_rms_epsilon", number_value(-1e-5)},
        {"llama.attention.layer_norm_rms_epsilon", number_value(10)},
        {"llama.rope.dimension_count", integer_value(17)},
        {"llama.rope.dimension_count", integer_value(32)},
        {"llama.rope.freq_base", number_value(0)},
        {"llama.rope.freq_base", number_value(std::numeric_limits<double>::infinity())},
        {"llama.vocab_size", integer_value(321)},
        {"llama.vocab_size", integer_value(0)},
    };
    for (const auto& [key, value] : cases) {
        SCOPED_TRACE(key);
        const auto error = error_of_key(key, value);
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::model_invalid) << error->message;
        EXPECT_THAT(error->message, HasSubstr(key));
    }
}

TEST(ModelConfig, VariantsThatComputeSomethingElseAreUnsupportedAndNamed) {
    const std::pair<const char*, Value> cases[] = {
        {"llama.expert_count", integer_value(8)},
        {"llama.attention.sliding_window", integer_value(128)},
        {"llama.attention.value_length", integer_value(32)},
        {"llama.rope.scaling.type", string_value("longrope")},
        {"llama.logit_scale", number_value(0.5)},
        {"llama.rope.scaling.attn_factor", number_value(0.5)},
    };
    for (const auto& [key, value] : cases) {
        SCOPED_TRACE(key);
        const auto error = error_of_key(key, value);
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::unsupported_model) << error->message;
        EXPECT_THAT(error->message, HasSubstr(key));
    }
}

TEST(ModelConfig, AnUnknownArchitectureIsNamedTogetherWithWhatIsSupported) {
    const auto error = error_of_key("general.architecture", string_value("mamba"));
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::unsupported_model);
    EXPECT_THAT(error->message, HasSubstr("mamba"));
    EXPECT_THAT(error->message, HasSubstr("supported are: llama"));
}

TEST(ModelWeights, AMissingTensorIsNamed) {
    const auto error = error_of_edit([](std::vector<EditableTensor>& tensors) {
        std::erase_if(tensors,
                      [](const EditableTensor& t) { return t.plan.name == "blk.1.ffn_up.weight"; });
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code, ErrorCode::model_invalid);
    EXPECT_THAT(error->message, HasSubstr("blk.1.ffn_up.weight"));
}

TEST(ModelWeights, ATensorOfAnotherShapeIsNamedWithBothShapes) {
    const auto error = error_of_edit([](std::vector<EditableTensor>& tensors) {
        for (EditableTensor& t : tensors)
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
        const auto error = error_of_edit([&](std::vector<EditableTensor>& tensors) {
            tensors.push_back({{name, DType::f32, {1}}, std::vector<std::byte>(4)});
        });
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code, ErrorCode::unsupported_model);
        EXPECT_THAT(error->message, HasSubstr(name));
    }
}

TEST(ModelWeights, WithoutAHeadTheEmbeddingServesAsHead) {
    const auto error = error_of_edit([](std::vector<EditableTensor>& tensors) {
        std::erase_if(tensors,
                      [](const EditableTensor& t) { return t.plan.name == "output.weight"; });
    });
    EXPECT_FALSE(error.has_value());
}

}  // namespace
}  // namespace hearth::testing
