// T009. Vocabularies that are broken: each is refused with a reason, or has a stated meaning.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/text/detokenizer.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/vocabulary_maker.h"

namespace hearth::text {
namespace {

using test::VocabularyMaker;

VocabularyMaker base(bool sentence_piece) {
    return sentence_piece ? test::sentence_piece_vocabulary()
                          : test::byte_level_vocabulary("smollm");
}

struct Broken {
    const char* name;
    bool sentence_piece;
    std::function<void(VocabularyMaker&)> damage;
    const char* mentions;
};

void set_id(VocabularyMaker& made, const char* key, std::int64_t id) {
    std::erase_if(made.more, [&](const auto& entry) { return entry.first == key; });
    made.more.emplace_back(key, test::id_value(id));
}

const Broken kBroken[] = {
    {"a byte token with a sign", true, [](VocabularyMaker& v) { v.add("<0x-1>", TokenKind::byte); },
     "<0xNN>"},
    {"a byte token that is no number", true,
     [](VocabularyMaker& v) { v.add("<0xZZ>", TokenKind::byte); }, "<0xNN>"},
    {"a byte token that is too long", true,
     [](VocabularyMaker& v) { v.add("<0x100>", TokenKind::byte); }, "<0xNN>"},
    {"an empty byte token", true, [](VocabularyMaker& v) { v.add("", TokenKind::byte); }, "<0xNN>"},
    {"a byte token in a byte-level vocabulary", false,
     [](VocabularyMaker& v) { v.add("<0x", TokenKind::byte); }, "<0xNN>"},
    {"no tokens", false,
     [](VocabularyMaker& v) {
         v.tokens.clear();
         v.types.clear();
     },
     "tokens"},
    {"too few kinds", false, [](VocabularyMaker& v) { v.types.pop_back(); }, "token_type"},
    {"too many kinds", false, [](VocabularyMaker& v) { v.types.push_back(1); }, "token_type"},
    {"a kind that is none", false, [](VocabularyMaker& v) { v.types[3] = 7; }, "token_type"},
    {"a negative kind", false, [](VocabularyMaker& v) { v.types[3] = -1; }, "token_type"},
    {"too few scores", true, [](VocabularyMaker& v) { v.scores.pop_back(); }, "scores"},
    {"too many scores", true, [](VocabularyMaker& v) { v.scores.push_back(0); }, "scores"},
    {"a score that is no number", true,
     [](VocabularyMaker& v) { v.scores[9] = std::numeric_limits<double>::quiet_NaN(); }, "scores"},
    {"an infinite score", true,
     [](VocabularyMaker& v) { v.scores[9] = std::numeric_limits<double>::infinity(); }, "scores"},
    {"a merge without a space", false, [](VocabularyMaker& v) { v.merges[0] = "he"; }, "merges"},
    {"a merge with an empty side", false, [](VocabularyMaker& v) { v.merges[0] = "h "; }, "merges"},
    {"an empty merge", false, [](VocabularyMaker& v) { v.merges[0] = ""; }, "merges"},
    {"a negative end id", false,
     [](VocabularyMaker& v) { set_id(v, "tokenizer.ggml.eos_token_id", -1); }, "eos_token_id"},
    {"an end id past the end", false,
     [](VocabularyMaker& v) {
         set_id(v, "tokenizer.ggml.eos_token_id", static_cast<std::int64_t>(v.tokens.size()));
     },
     "eos_token_id"},
    {"a huge begin id", true,
     [](VocabularyMaker& v) { set_id(v, "tokenizer.ggml.bos_token_id", 0xFFFFFFFF); },
     "bos_token_id"},
    {"an unknown id past the end", true,
     [](VocabularyMaker& v) { set_id(v, "tokenizer.ggml.unknown_token_id", 1 << 30); },
     "unknown_token_id"},
};

TEST(T009, BrokenVocabulariesAreRefusedWithTheKeyInTheMessage) {
    for (const Broken& broken : kBroken) {
        SCOPED_TRACE(broken.name);
        VocabularyMaker made = base(broken.sentence_piece);
        ASSERT_TRUE(Tokenizer::load(made.metadata()));
        broken.damage(made);
        const auto loaded = Tokenizer::load(made.metadata());
        if (loaded) {
            ADD_FAILURE() << "was accepted";
            continue;
        }
        EXPECT_EQ(loaded.error().code, ErrorCode::model_invalid);
        EXPECT_NE(loaded.error().message.find(broken.mentions), std::string::npos)
            << loaded.error().message;
    }
}

TEST(T009, MissingKeysAreNamed) {
    const auto loaded = Tokenizer::load(gguf::Metadata{});
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find("tokenizer.ggml.model"), std::string::npos);
    gguf::Metadata bare;
    bare.insert("tokenizer.ggml.model", test::text_value("gpt2"));
    const auto no_tokens = Tokenizer::load(bare);
    ASSERT_FALSE(no_tokens);
    EXPECT_NE(no_tokens.error().message.find("tokenizer.ggml.tokens"), std::string::npos);
}

TEST(T009, UnknownFamiliesAreNamed) {
    VocabularyMaker made = base(false);
    made.pre = "no-such-rules";
    const auto pre = Tokenizer::load(made.metadata());
    ASSERT_FALSE(pre);
    EXPECT_EQ(pre.error().code, ErrorCode::unsupported_model);
    EXPECT_NE(pre.error().message.find("no-such-rules"), std::string::npos);
    EXPECT_NE(pre.error().message.find("smollm"), std::string::npos);
    made.model = "unigram\n\x1B[2J";
    const auto model = Tokenizer::load(made.metadata());
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::unsupported_model);
    EXPECT_NE(model.error().message.find("unigram"), std::string::npos);
    EXPECT_EQ(model.error().message.find('\x1B'), std::string::npos);
}

// Odd, but with a meaning: the text must come back, and the odd tokens must be readable.
TEST(T009, OddVocabulariesAreAcceptedAndTextSurvives) {
    for (const bool sentence_piece : {false, true}) {
        VocabularyMaker made = base(sentence_piece);
        const TokenId empty = made.add("");
        const TokenId empty_control = made.add("", TokenKind::control);
        const TokenId invalid = made.add("\xFF\xC0 \xE2");
        const TokenId huge = made.add(std::string(16u << 20, 'a'));
        const TokenId huge_control = made.add(std::string(1u << 20, '<'), TokenKind::control);
        made.add("hello");
        made.add("hello");
        made.add("unused", TokenKind::unused);
        made.merges.push_back("zz yy");           // names tokens that are not there
        made.merges.push_back("z zz");            // the same, built from parts
        made.merges.push_back("h e");             // a second time
        made.merges.push_back("\xE7\x81\xAB x");  // a character that stands for no byte
        made.merges.push_back("<|im_ end|>");     // would make a control token
        const auto tokenizer = Tokenizer::load(made.metadata());
        ASSERT_TRUE(tokenizer) << tokenizer.error().message;
        EXPECT_EQ(tokenizer->bytes(empty), "");
        EXPECT_EQ(tokenizer->bytes(empty_control), "");
        EXPECT_EQ(tokenizer->bytes(invalid), "\xFF\xC0 \xE2");
        EXPECT_EQ(tokenizer->bytes(huge).size(), 16u << 20);
        EXPECT_EQ(tokenizer->piece(huge_control).size(), 1u << 20);
        Detokenizer odd(*tokenizer);
        EXPECT_EQ(odd.push(invalid), "\xEF\xBF\xBD\xEF\xBF\xBD ");
        EXPECT_EQ(odd.flush(), "\xEF\xBF\xBD");

        const std::string text = "hello zzzyy <|im_end|> <<<< " + std::string(3000, 'a');
        const auto ids = tokenizer->encode(text, {});
        ASSERT_TRUE(ids);
        Detokenizer detokenizer(*tokenizer, {.at_text_start = true});
        std::string back;
        for (const TokenId id : *ids) {
            EXPECT_NE(tokenizer->kind(id), TokenKind::control);
            back += detokenizer.push(id);
        }
        EXPECT_EQ(back + detokenizer.flush(), text);
    }
}

TEST(T009, OfEqualTokensTheLowestIdIsUsed) {
    VocabularyMaker made = base(true);
    made.tokens.push_back(made.tokens.back());
    made.types.push_back(1);
    made.scores.push_back(100);
    const auto tokenizer = Tokenizer::load(made.metadata());
    ASSERT_TRUE(tokenizer);
    const auto ids = tokenizer->encode("\xC3\xA9", {});
    ASSERT_TRUE(ids);
    EXPECT_EQ(ids->back(), tokenizer->size() - 2);
}

TEST(OddVocabulary, WithoutKindsAllTokensAreOrdinary) {
    gguf::Metadata metadata;
    metadata.insert("tokenizer.ggml.model", test::text_value("gpt2"));
    metadata.insert("tokenizer.ggml.tokens", test::list_value({"a", "b", "ab"}));
    metadata.insert("tokenizer.ggml.merges", test::list_value({"a b"}));
    const auto tokenizer = Tokenizer::load(metadata);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->pre_tokenizer(), "default");
    EXPECT_EQ(tokenizer->bos(), std::nullopt);
    const auto ids = tokenizer->encode("abbazb", {.add_bos = true});
    ASSERT_TRUE(ids);
    // 'z' has no token: it is left out, as other tokenizers of this family do.
    EXPECT_EQ(*ids, (std::vector<TokenId>{2, 1, 0, 1}));
}

}  // namespace
}  // namespace hearth::text
