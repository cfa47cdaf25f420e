// Cuts text into words before byte-pair merging, as the pre-tokenizers of byte-level BPE models do.
// Each is published as a list of regular expressions, applied one after another to the pieces that
// the one before left; here each expression is a hand-written scanner that takes linear time and
// constant stack.
//
//   isolate punctuation   [\p{P}$+<=>^~|]+ (falcon's has the backquote too)
//   isolate digits        \p{N}, each one alone
//   GPT-2 words           's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|
//   ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ Llama 3 words
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//                         ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ (Qwen 2: \p{N} for
//                         \p{N}{1,3})
//   isolate numbers       \p{N}+
//   isolate triples       [0-9][0-9][0-9]
//
//   gpt-2      GPT-2 words
//   starcoder  isolate digits, GPT-2 words (smollm and others are the same)
//   llama-bpe  Llama 3 words
//   default    isolate punctuation, GPT-2 words, isolate numbers, isolate triples
//   falcon     isolate punctuation, GPT-2 words, isolate triples
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

enum class WordRule : std::uint8_t { gpt2, llama3, qwen2 };
enum class PunctuationRule : std::uint8_t { none, standard, with_backquote };

struct PreTokenizer {
    WordRule words;
    PunctuationRule isolate_punctuation;
    bool isolate_digits;
    bool isolate_numbers;
    bool isolate_triples;
    bool whole_words;  // a word that is a token is that token, whatever the merges say
    bool adds_bos;     // unless the file says otherwise
};

// By the name in tokenizer.ggml.pre; empty when we do not have it.
std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name);
// The names that find_pre_tokenizer knows, for error messages.
std::string pre_tokenizer_names();

// Appends the words of `text` (valid UTF-8), which together are the text.
void split_words(const PreTokenizer& rules, std::string_view text,
                 std::vector<std::string_view>& words);

}  // namespace hearth::text
