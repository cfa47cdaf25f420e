// Builds small vocabularies as model metadata, for tests that need no file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/gguf/metadata.h"
#include "engine/text/tokenizer.h"

namespace hearth::text::test {

inline gguf::Value text_value(std::string text) {
    return {gguf::ValueType::string, std::move(text), gguf::ValueType::u8};
}
inline gguf::Value flag_value(bool flag) {
    return {gguf::ValueType::boolean, flag, gguf::ValueType::u8};
}
inline gguf::Value id_value(std::int64_t id) {
    return {gguf::ValueType::i32, id, gguf::ValueType::u8};
}
inline gguf::Value list_value(std::vector<std::string> texts) {
    return {gguf::ValueType::array, std::move(texts), gguf::ValueType::string};
}

struct VocabularyMaker {
    std::string model = "gpt2";
    std::string pre = "gpt-2";
    std::vector<std::string> tokens;
    std::vector<std::int64_t> types;
    std::vector<double> scores;
    std::vector<std::string> merges;
    std::vector<std::pair<std::string, gguf::Value>> more;

    TokenId add(std::string piece, TokenKind kind = TokenKind::normal, double score = 0) {
        tokens.push_back(std::move(piece));
        types.push_back(static_cast<std::int64_t>(kind) + 1);
        scores.push_back(score);
        return static_cast<TokenId>(tokens.size()) - 1;
    }
    // Adds the merge and the token that it makes.
    void merge(const std::string& left, const std::string& right) {
        merges.push_back(left + " " + right);
        add(left + right);
    }
    gguf::Metadata metadata() const {
        gguf::Metadata made;
        made.insert("tokenizer.ggml.model", text_value(model));
        if (!pre.empty()) made.insert("tokenizer.ggml.pre", text_value(pre));
        made.insert("tokenizer.ggml.tokens", list_value(tokens));
        made.insert("tokenizer.ggml.token_type",
                    {gguf::ValueType::array, types, gguf::ValueType::i32});
        if (model == "llama") {
            made.insert("tokenizer.ggml.scores",
                        {gguf::ValueType::array, scores, gguf::ValueType::f32});
        } else {
            made.insert("tokenizer.ggml.merges", list_value(merges));
        }
        for (const auto& [key, value] : more) made.insert(key, value);
        return made;
    }
};

// The piece of one byte in GPT-2's table.
inline std::string byte_piece(unsigned byte) {
    const auto printable = [](unsigned b) {
        return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    };
    unsigned code = byte;
    if (!printable(byte)) {
        code = 0x100;
        for (unsigned b = 0; b < byte; ++b) code += printable(b) ? 0 : 1;
    }
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

// All 256 bytes, ChatML marks, a user-defined token and merges for a few words and runs.
inline VocabularyMaker byte_level_vocabulary(std::string pre) {
    VocabularyMaker made;
    made.pre = std::move(pre);
    for (unsigned byte = 0; byte < 256; ++byte) made.add(byte_piece(byte));
    made.add("<|im_start|>", TokenKind::control);
    made.add("<|im_end|>", TokenKind::control);
    made.add("<think>", TokenKind::user_defined);
    const std::string space = byte_piece(' ');
    made.merge("h", "e");
    made.merge("l", "l");
    made.merge("he", "ll");
    made.merge("hell", "o");
    made.merge(space, "hello");
    made.merge(space, space);
    made.merge(space + space, space + space);
    made.merge("a", "a");
    made.merge("aa", "aa");
    made.merge("aaaa", "aaaa");
    made.merge("|", ">");
    made.merge("<", "|");
    made.merge("i", "m");
    made.merge("e", "n");
    made.merge("en", "d");
    made.more.emplace_back("tokenizer.ggml.bos_token_id", id_value(256));
    made.more.emplace_back("tokenizer.ggml.eos_token_id", id_value(257));
    return made;
}

// <unk>, <s>, </s>, the byte tokens, a user-defined token and a few pieces.
inline VocabularyMaker sentence_piece_vocabulary() {
    VocabularyMaker made;
    made.model = "llama";
    made.pre.clear();
    made.add("<unk>", TokenKind::unknown);
    made.add("<s>", TokenKind::control);
    made.add("</s>", TokenKind::control);
    constexpr std::string_view kHex = "0123456789ABCDEF";
    for (unsigned byte = 0; byte < 256; ++byte) {
        made.add(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">", TokenKind::byte);
    }
    made.add("<think>", TokenKind::user_defined);
    const std::string mark = "\xE2\x96\x81";
    double score = 0;
    for (const std::string& piece : {mark + "h",
                                     std::string("el"),
                                     mark + "hel",
                                     mark + "hello",
                                     std::string("lo"),
                                     std::string("</"),
                                     std::string("s>"),
                                     mark + mark,
                                     mark + mark + mark + mark,
                                     std::string("aa"),
                                     std::string("aaaa"),
                                     mark,
                                     std::string("h"),
                                     std::string("e"),
                                     std::string("l"),
                                     std::string("o"),
                                     std::string("a"),
                                     std::string("<"),
                                     std::string("/"),
                                     std::string("s"),
                                     std::string(">"),
                                     std::string("\xC3\xA9")}) {
        made.add(piece, TokenKind::normal, score);
        score -= 1;
    }
    return made;
}

}  // namespace hearth::text::test
