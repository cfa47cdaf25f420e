// Words and ids against the Python package `tokenizers`: tests/data/make_tokenizer_goldens.py says
// how they were made.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/mapped_file.h"
#include "engine/gguf/reader.h"
#include "engine/text/detokenizer.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/vocabulary_maker.h"

namespace hearth::text {
namespace {

const std::string kFolder = HEARTH_SOURCE_DIR "/tests/data/tokenizers/";

const boost::json::object& goldens() {
    static const boost::json::value all = [] {
        std::ifstream file(kFolder + "goldens.json", std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>()};
        return boost::json::parse(text);
    }();
    return all.as_object();
}

Result<Tokenizer> load_with(std::string pre) {
    HEARTH_TRY(const MappedFile mapped, MappedFile::open(kFolder + "mixed.gguf"));
    HEARTH_TRY(const gguf::File file, gguf::File::read(mapped.bytes()));
    gguf::Metadata metadata = file.metadata();
    metadata.insert("tokenizer.ggml.pre", test::text_value(std::move(pre)));
    return Tokenizer::load(metadata);
}

struct Family {
    const char* pre;     // what the file says
    const char* golden;  // whose rules these are
};

class T029 : public testing::TestWithParam<Family> {};

TEST_P(T029, GoldenWordsAndIdsAreEqual) {
    const auto tokenizer = load_with(GetParam().pre);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const auto rules = find_pre_tokenizer(GetParam().pre);
    ASSERT_TRUE(rules);
    const auto& cases = goldens().at(GetParam().golden).as_array();
    ASSERT_GT(cases.size(), 200u);
    for (const auto& golden : cases) {
        const std::string text(golden.at("text").as_string());
        SCOPED_TRACE(boost::json::serialize(golden.at("text")));
        std::vector<std::string_view> words;
        split_words(*rules, text, words);
        std::vector<std::size_t> lengths;
        for (const std::string_view word : words) lengths.push_back(word.size());
        EXPECT_EQ(lengths, boost::json::value_to<std::vector<std::size_t>>(golden.at("words")));
        const auto ids = tokenizer->encode(text, {});
        ASSERT_TRUE(ids) << ids.error().message;
        EXPECT_EQ(*ids, boost::json::value_to<std::vector<TokenId>>(golden.at("ids")));

        Detokenizer detokenizer(*tokenizer);
        std::string back;
        for (const TokenId id : *ids) back += detokenizer.push(id);
        EXPECT_EQ(back + detokenizer.flush(), text);
    }
}

INSTANTIATE_TEST_SUITE_P(All, T029,
                         testing::Values(Family{"gpt-2", "gpt-2"}, Family{"smollm", "smollm"},
                                         Family{"starcoder", "smollm"}, Family{"refact", "smollm"},
                                         Family{"llama-bpe", "llama-bpe"}, Family{"qwen2", "qwen2"},
                                         Family{"default", "default"}, Family{"falcon", "falcon"}),
                         [](const auto& test) {
                             std::string name = test.param.pre;
                             std::erase(name, '-');
                             return name;
                         });

TEST(Goldens, SpecialTokensAreCutOutAsInTheOracle) {
    const auto tokenizer = load_with("smollm");
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    for (const auto& golden : goldens().at("special").as_array()) {
        const std::string text(golden.at("text").as_string());
        const auto ids = tokenizer->encode(text, {.parse_special = true});
        ASSERT_TRUE(ids);
        EXPECT_EQ(*ids, boost::json::value_to<std::vector<TokenId>>(golden.at("ids"))) << text;
    }
}

}  // namespace
}  // namespace hearth::text
