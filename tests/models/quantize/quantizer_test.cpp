// A small made-up model through every type.
#include "models/quantize/quantizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"
#include "engine/quant/traits.h"

namespace hearth::quantize {
namespace {

struct Made {
    std::string name;
    std::vector<std::uint64_t> dims;
    std::vector<float> values;
};

class Quantizer : public testing::Test {
protected:
    void SetUp() override {
        // Unique per process: tests of two builds may run at once.
        folder_ =
            std::filesystem::temp_directory_path() / ("hearth-quant-" + std::to_string(getpid()));
        std::filesystem::create_directory(folder_);
        std::mt19937 random(3);
        const auto add = [&](const char* name, std::vector<std::uint64_t> dims) {
            std::size_t count = 1;
            for (const std::uint64_t dim : dims) count *= dim;
            Made tensor = {.name = name, .dims = std::move(dims), .values = {}};
            for (std::size_t i = 0; i < count; ++i)
                tensor.values.push_back(static_cast<float>(random() >> 8) * 0x1p-24F - 0.5F);
            made_.push_back(std::move(tensor));
        };
        add("token_embd.weight", {512, 40});  // several chunks, so that both threads work
        add("blk.0.attn_norm.weight", {512});
        add("blk.0.ffn_up.weight", {96, 7});  // no multiple of 256, an odd number of rows
        add("blk.0.odd.weight", {20, 3});     // no multiple of 32
        write_input();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write_input() const {
        gguf::Metadata metadata;
        metadata.insert("general.architecture",
                        {.type = gguf::ValueType::string, .data = std::string("made-up")});
        metadata.insert("general.file_type",
                        {.type = gguf::ValueType::u32, .data = std::uint64_t{0}});
        std::vector<gguf::TensorPlan> plan;
        for (const Made& one : made_) plan.push_back({one.name, DType::f32, one.dims});
        auto writer = gguf::Writer::create(path("in.gguf"), metadata, plan);
        ASSERT_TRUE(writer.has_value()) << writer.error().message;
        for (const Made& one : made_)
            ASSERT_TRUE(writer->append(std::as_bytes(std::span(one.values))).has_value());
        ASSERT_TRUE(writer->finish().has_value());
    }

    std::string path(const char* name) const { return (folder_ / name).string(); }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(folder_), {}));
    }

    std::filesystem::path folder_;
    std::vector<Made> made_;
};

void expect_near(const gguf::File& file, const Made& made, float step) {
    SCOPED_TRACE(made.name);
    const gguf::TensorInfo* tensor = file.find(made.name);
    ASSERT_NE(tensor, nullptr);
    std::vector<float> floats(made.values.size());
    quant::traits(tensor->type).unpack(file.data(*tensor).data(), floats.size(), floats.data());
    for (std::size_t i = 0; i < floats.size(); ++i)
        ASSERT_NEAR(floats[i], made.values[i], step) << "element " << i;
}

TEST_F(Quantizer, EveryTypeComesOutNearTheInput) {
    struct Case {
        DType type;
        float step;  // the largest error of values between -0.5 and 0.5
        std::int64_t file_type;
    };
    const Case cases[] = {
        {DType::f32, 0, 0},        {DType::f16, 0.0003F, 1}, {DType::bf16, 0.002F, 32},
        {DType::q8_0, 0.0023F, 7}, {DType::q5_0, 0.034F, 8}, {DType::q5_1, 0.018F, 9},
        {DType::q4_0, 0.07F, 2},   {DType::q4_1, 0.036F, 3}, {DType::q6_k, 0.018F, 18},
        {DType::q5_k, 0.034F, 16}, {DType::q4_k, 0.06F, 14}};
    for (const Case& one : cases) {
        SCOPED_TRACE(to_string(one.type));
        const auto report = requantize(path("in.gguf"), path("out.gguf"), one.type, {});
        ASSERT_TRUE(report.has_value()) << report.error().message;
        EXPECT_EQ(report->bytes_in, std::filesystem::file_size(path("in.gguf")));
        EXPECT_EQ(report->bytes_out, std::filesystem::file_size(path("out.gguf")));
        EXPECT_EQ(report->tensors_converted + report->tensors_copied, 4);
        EXPECT_EQ(report->tensors_copied, one.type == DType::f32 ? 4 : 1);

        const auto mapped = MappedFile::open(path("out.gguf"));
        const auto file = gguf::File::read(mapped->bytes());
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ(file->metadata().string("general.architecture").value(), "made-up");
        EXPECT_EQ(file->metadata().integer("general.file_type", {0, 99}).value(), one.file_type);
        EXPECT_EQ(file->metadata().integer("general.quantization_version", {0, 99}).value(), 2);
        EXPECT_EQ(file->find("token_embd.weight")->type, one.type);
        EXPECT_EQ(file->find("blk.0.attn_norm.weight")->type, DType::f32);
        for (const Made& made : made_) expect_near(*file, made, one.step);
        EXPECT_EQ(files(), 2U) << "a temporary file was left";
    }
}

TEST_F(Quantizer, FallbacksAreReportedAndUsed) {
    const auto report = requantize(path("in.gguf"), path("out.gguf"), DType::q6_k, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    ASSERT_EQ(report->fallbacks.size(), 2U);
    EXPECT_EQ(report->fallbacks[0].tensor, "blk.0.ffn_up.weight");
    EXPECT_EQ(report->fallbacks[0].used, DType::q8_0);
    EXPECT_EQ(report->fallbacks[1].tensor, "blk.0.odd.weight");
    EXPECT_EQ(report->fallbacks[1].used, DType::f16);
    const auto mapped = MappedFile::open(path("out.gguf"));
    const auto file = gguf::File::read(mapped->bytes());
    EXPECT_EQ(file->find("blk.0.ffn_up.weight")->type, DType::q8_0);
}

TEST_F(Quantizer, TensorsOfTheWantedTypeKeepTheirBytes) {
    ASSERT_TRUE(requantize(path("in.gguf"), path("once.gguf"), DType::q4_k, {}).has_value());
    const auto report = requantize(path("once.gguf"), path("twice.gguf"), DType::q4_k, {});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->tensors_converted, 0);
    const auto once = MappedFile::open(path("once.gguf"));
    const auto twice = MappedFile::open(path("twice.gguf"));
    EXPECT_TRUE(std::ranges::equal(once->bytes(), twice->bytes()));
}

TEST_F(Quantizer, TwoThreadsPackTheSameBytesAsOneLoop) {
    ASSERT_TRUE(requantize(path("in.gguf"), path("out.gguf"), DType::q5_k, {}).has_value());
    const auto mapped = MappedFile::open(path("out.gguf"));
    const auto file = gguf::File::read(mapped->bytes());
    const gguf::TensorInfo* tensor = file->find("token_embd.weight");
    std::vector<std::byte> expected(tensor->bytes);
    quant::traits(DType::q5_k)
        .pack(made_[0].values.data(), made_[0].values.size(), expected.data());
    EXPECT_TRUE(std::ranges::equal(file->data(*tensor), expected));
}

TEST_F(Quantizer, ProgressGrowsToTheTotal) {
    std::vector<std::uint64_t> done;
    std::uint64_t total = 0;
    const auto report = requantize(path("in.gguf"), path("out.gguf"), DType::q8_0,
                                   [&](const RequantizeProgress& progress) {
                                       done.push_back(progress.elements_done);
                                       total = progress.elements_total;
                                   });
    ASSERT_TRUE(report.has_value());
    ASSERT_EQ(done.size(), 4U);
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_EQ(done.back(), total);
    EXPECT_EQ(total, 512U * 40 + 512 + 96 * 7 + 60);
}

TEST_F(Quantizer, TheInputIsNeverOverwritten) {
    std::filesystem::create_hard_link(path("in.gguf"), path("link.gguf"));
    std::filesystem::create_symlink(path("in.gguf"), path("soft.gguf"));
    const auto before = std::filesystem::file_size(path("in.gguf"));
    for (const char* out : {"in.gguf", "link.gguf", "soft.gguf", "./in.gguf"}) {
        const auto report = requantize(path("in.gguf"), path(out), DType::q8_0, {});
        ASSERT_FALSE(report.has_value()) << out;
        EXPECT_EQ(report.error().code, ErrorCode::bad_input);
    }
    EXPECT_EQ(std::filesystem::file_size(path("in.gguf")), before);
    EXPECT_EQ(files(), 3U);
}

TEST_F(Quantizer, WeightsThatAreNotFiniteAreNamedAndLeaveNoFile) {
    const float bad[] = {std::nanf(""), std::numeric_limits<float>::infinity()};
    for (const float value : bad) {
        made_[0].values.back() = value;
        write_input();
        std::ofstream(path("out.gguf")) << "as it was";
        const auto report = requantize(path("in.gguf"), path("out.gguf"), DType::q4_0, {});
        ASSERT_FALSE(report.has_value());
        EXPECT_EQ(report.error().code, ErrorCode::numeric_error);
        EXPECT_NE(report.error().message.find("'token_embd.weight'"), std::string::npos);
        EXPECT_EQ(std::filesystem::file_size(path("out.gguf")), 9U);
        EXPECT_EQ(files(), 2U);
    }
    made_[0].values.back() = 1e6F;
    write_input();
    EXPECT_FALSE(requantize(path("in.gguf"), path("out.gguf"), DType::f16, {}).has_value());
    EXPECT_TRUE(requantize(path("in.gguf"), path("out.gguf"), DType::bf16, {}).has_value());
}

TEST_F(Quantizer, BadInputsAndOutputsAreErrors) {
    std::ofstream(path("text.gguf")) << "not a model";
    const auto text = requantize(path("text.gguf"), path("out.gguf"), DType::q8_0, {});
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code, ErrorCode::unsupported_format);
    const auto absent = requantize(path("absent.gguf"), path("out.gguf"), DType::q8_0, {});
    ASSERT_FALSE(absent.has_value());
    EXPECT_EQ(absent.error().code, ErrorCode::not_found);
    const auto nowhere = requantize(path("in.gguf"), path("no/such/out.gguf"), DType::q8_0, {});
    ASSERT_FALSE(nowhere.has_value());
    EXPECT_EQ(nowhere.error().code, ErrorCode::io_failed);
    std::filesystem::create_directories(folder_ / "full" / "inside");
    const auto onto_folder = requantize(path("in.gguf"), path("full"), DType::q8_0, {});
    ASSERT_FALSE(onto_folder.has_value());
    EXPECT_EQ(onto_folder.error().code, ErrorCode::io_failed);
    EXPECT_EQ(files(), 3U) << "a temporary file was left";
}

}  // namespace
}  // namespace hearth::quantize
