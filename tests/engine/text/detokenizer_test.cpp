#include "engine/text/detokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/utf8.h"
#include "tests/engine/text/vocabulary_maker.h"

namespace hearth::text {
namespace {

Tokenizer load(const test::VocabularyMaker& vocabulary) {
    return Tokenizer::load(vocabulary.metadata()).value();
}

// In both vocabularies of vocabulary_maker every byte has a token; this finds it.
TokenId byte_token(const Tokenizer& tokenizer, char byte) {
    for (TokenId id = 0; id < tokenizer.size(); ++id) {
        if (tokenizer.bytes(id) == std::string_view(&byte, 1)) return id;
    }
    return -1;
}

std::vector<Tokenizer> both() {
    std::vector<Tokenizer> all;
    all.push_back(load(test::byte_level_vocabulary("smollm")));
    all.push_back(load(test::sentence_piece_vocabulary()));
    return all;
}

TEST(T031, OneByteTokenAtATimeGivesWholeCharacters) {
    const std::string text = "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\xA5 done";
    for (const Tokenizer& tokenizer : both()) {
        Detokenizer detokenizer(tokenizer);
        std::string joined;
        for (const char byte : text) {
            const std::string piece = detokenizer.push(byte_token(tokenizer, byte));
            EXPECT_EQ(find_utf8_error(piece), std::nullopt);
            joined += piece;
        }
        EXPECT_EQ(joined + detokenizer.flush(), text);
    }
}

TEST(T033, InvalidBytesBecomeReplacementCharactersAndTheStreamGoesOn) {
    const std::string bytes = "a\xFF\xC0\xAF\xED\xA0\x80z\xE2\x82";
    const std::string r(kReplacementUtf8);
    for (const Tokenizer& tokenizer : both()) {
        Detokenizer detokenizer(tokenizer);
        std::string joined;
        for (const char byte : bytes) joined += detokenizer.push(byte_token(tokenizer, byte));
        EXPECT_TRUE(detokenizer.pending());
        EXPECT_EQ(joined, "a" + r + r + r + r + r + r + "z");
        EXPECT_EQ(detokenizer.flush(), r);
        EXPECT_EQ(detokenizer.flush(), "");
    }
}

TEST(Detokenizer, PushingTheSameIdsAgainRebuildsItsState) {
    const Tokenizer tokenizer = load(test::byte_level_vocabulary("smollm"));
    const std::string text = "na\xC3\xAFve \xF0\x9F\x94\xA5";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        Detokenizer first(tokenizer);
        Detokenizer rebuilt(tokenizer);
        std::string from_first;
        std::string from_rebuilt;
        for (std::size_t i = 0; i < cut; ++i) {
            const TokenId id = byte_token(tokenizer, text[i]);
            from_first += first.push(id);
            from_rebuilt += rebuilt.push(id);
        }
        EXPECT_EQ(from_first, from_rebuilt);
        for (std::size_t i = cut; i < text.size(); ++i) {
            const TokenId id = byte_token(tokenizer, text[i]);
            from_rebuilt += rebuilt.push(id);
        }
        EXPECT_EQ(from_rebuilt, text);
    }
}

TEST(Detokenizer, TheSpaceOfTheTokenizerIsTakenOffAtTheStartOnly) {
    const Tokenizer tokenizer = load(test::sentence_piece_vocabulary());
    const TokenId hello = tokenizer.find("\xE2\x96\x81hello").value();
    Detokenizer start(tokenizer, {.at_text_start = true});
    EXPECT_EQ(start.push(1), "");
    EXPECT_EQ(start.push(hello), "hello");
    EXPECT_EQ(start.push(hello), " hello");
    Detokenizer middle(tokenizer);
    EXPECT_EQ(middle.push(hello), " hello");
}

TEST(Detokenizer, ControlTokensAreTextOnlyWhenAsked) {
    const Tokenizer tokenizer = load(test::byte_level_vocabulary("smollm"));
    Detokenizer hidden(tokenizer);
    EXPECT_EQ(hidden.push(257), "");
    EXPECT_EQ(hidden.push(258), "<think>");
    Detokenizer shown(tokenizer, {.show_control = true});
    EXPECT_EQ(shown.push(257), "<|im_end|>");
}

}  // namespace
}  // namespace hearth::text
