// Scanners for the expressions in the header. `Scanner` looks at characters; each take_… function
// is one alternative of an expression and returns how many bytes it matches at a place, 0 for none.
#include "engine/text/pre_tokenizer.h"

#include <array>
#include <cstddef>

#include "engine/base/utf8.h"
#include "engine/text/unicode_class.h"

namespace hearth::text {
namespace {

struct Named {
    std::string_view name;
    PreTokenizer rules;
};

constexpr PreTokenizer kGpt2{.words = WordRule::gpt2,
                             .isolate_punctuation = PunctuationRule::none,
                             .isolate_digits = false,
                             .isolate_numbers = false,
                             .isolate_triples = false,
                             .whole_words = false,
                             .adds_bos = false};
constexpr PreTokenizer with_digits(PreTokenizer rules) {
    rules.isolate_digits = true;
    return rules;
}
constexpr PreTokenizer with_punctuation(PunctuationRule punctuation, bool numbers) {
    PreTokenizer rules = kGpt2;
    rules.isolate_punctuation = punctuation;
    rules.isolate_numbers = numbers;
    rules.isolate_triples = true;
    return rules;
}
constexpr PreTokenizer with_words(WordRule words, bool llama3) {
    PreTokenizer rules = kGpt2;
    rules.words = words;
    rules.whole_words = llama3;
    rules.adds_bos = llama3;
    return rules;
}

constexpr std::array kNamed = {
    Named{"default", with_punctuation(PunctuationRule::standard, true)},
    Named{"falcon", with_punctuation(PunctuationRule::with_backquote, false)},
    Named{"gpt-2", kGpt2},
    Named{"phi-2", kGpt2},
    Named{"mpt", kGpt2},
    Named{"olmo", kGpt2},
    Named{"jais", kGpt2},
    Named{"starcoder", with_digits(kGpt2)},
    Named{"smollm", with_digits(kGpt2)},
    Named{"refact", with_digits(kGpt2)},
    Named{"command-r", with_digits(kGpt2)},
    Named{"codeshell", with_digits(kGpt2)},
    Named{"exaone", with_digits(kGpt2)},
    Named{"minerva-7b", with_digits(kGpt2)},
    Named{"llama-bpe", with_words(WordRule::llama3, true)},
    Named{"llama3", with_words(WordRule::llama3, true)},
    Named{"llama-v3", with_words(WordRule::llama3, true)},
    Named{"falcon3", with_words(WordRule::llama3, true)},
    Named{"pixtral", with_words(WordRule::llama3, true)},
    Named{"lfm2", with_words(WordRule::llama3, true)},
    Named{"dbrx", with_words(WordRule::llama3, false)},
    Named{"smaug-bpe", with_words(WordRule::llama3, false)},
    Named{"qwen2", with_words(WordRule::qwen2, false)},
    Named{"deepseek-r1-qwen", with_words(WordRule::qwen2, false)},
    Named{"stablelm2", with_words(WordRule::qwen2, false)},
};

struct Char {
    char32_t code = 0;
    std::size_t length = 0;  // 0 past the end
    CharClass kind = CharClass::space;

    bool is(CharClass wanted) const { return length > 0 && kind == wanted; }
    // [^\s\p{L}\p{N}]
    bool is_symbol() const { return is(CharClass::punctuation) || is(CharClass::other); }
    bool is_newline() const { return length > 0 && (code == '\r' || code == '\n'); }
};

class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    Char at(std::size_t place) const {
        if (place >= text_.size()) return {};
        const Decoded decoded = decode_utf8(text_, place);
        return {decoded.code, decoded.length, char_class(decoded.code)};
    }
    char byte(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
    // The end of the longest run of accepted characters that begins at `place`.
    template <typename Accept>
    std::size_t run(std::size_t place, Accept accept) const {
        for (Char c = at(place); c.length > 0 && accept(c); c = at(place)) place += c.length;
        return place;
    }
    std::size_t size() const { return text_.size(); }

private:
    std::string_view text_;
};

// 's|'t|'re|'ve|'m|'ll|'d; with `fold`, in either case, to which belongs the long s (U+017F).
std::size_t take_contraction(const Scanner& text, std::size_t at, bool fold) {
    if (text.byte(at) != '\'') return 0;
    const auto letter = [&](std::size_t place) {
        const char c = text.byte(place);
        return fold && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    if (fold && text.at(at + 1).code == 0x17F) return 3;
    const char first = letter(at + 1);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
    const char second = letter(at + 2);
    if ((first == 'r' || first == 'v') && second == 'e') return 3;
    if (first == 'l' && second == 'l') return 3;
    return 0;
}

// " ?" and one or more accepted characters.
template <typename Accept>
std::size_t take_after_space(const Scanner& text, std::size_t at, Accept accept) {
    const std::size_t start = text.byte(at) == ' ' ? at + 1 : at;
    const std::size_t end = text.run(start, accept);
    return end > start ? end - at : 0;
}

// \s+(?!\S)|\s+ : a run of spaces leaves its last one to the word that follows.
std::size_t take_spaces(const Scanner& text, std::size_t at) {
    std::size_t last = at;  // where the last space of the run begins
    std::size_t end = at;
    for (Char c = text.at(end); c.is(CharClass::space); c = text.at(end)) {
        last = end;
        end += c.length;
    }
    return end < text.size() && last > at ? last - at : end - at;
}

std::size_t take_gpt2_word(const Scanner& text, std::size_t at) {
    if (const auto n = take_contraction(text, at, false)) return n;
    const auto letters = [](const Char& c) { return c.is(CharClass::letter); };
    if (const auto n = take_after_space(text, at, letters)) return n;
    const auto numbers = [](const Char& c) { return c.is(CharClass::number); };
    if (const auto n = take_after_space(text, at, numbers)) return n;
    const auto symbols = [](const Char& c) { return c.is_symbol(); };
    if (const auto n = take_after_space(text, at, symbols)) return n;
    return take_spaces(text, at);
}

// [^\r\n\p{L}\p{N}]?\p{L}+
std::size_t take_llama3_letters(const Scanner& text, std::size_t at) {
    const Char first = text.at(at);
    std::size_t start = at;
    if (!first.is(CharClass::letter)) {
        if (first.is_newline() || first.is(CharClass::number)) return 0;
        start += first.length;
    }
    const std::size_t end = text.run(start, [](const Char& c) { return c.is(CharClass::letter); });
    return end > start ? end - at : 0;
}

// \p{N}{1,max}
std::size_t take_numbers(const Scanner& text, std::size_t at, int max) {
    int count = 0;
    return text.run(at, [&](const Char& c) { return c.is(CharClass::number) && count++ < max; }) -
           at;
}

// \s*[\r\n]+ : up to the last line break of a run of spaces.
std::size_t take_line_breaks(const Scanner& text, std::size_t at) {
    std::size_t place = at;
    std::size_t end = at;
    for (Char c = text.at(place); c.is(CharClass::space); c = text.at(place)) {
        place += c.length;
        if (c.is_newline()) end = place;
    }
    return end - at;
}

std::size_t take_llama3_word(const Scanner& text, std::size_t at, int max_digits) {
    if (const auto n = take_contraction(text, at, true)) return n;
    if (const auto n = take_llama3_letters(text, at)) return n;
    if (const auto n = take_numbers(text, at, max_digits)) return n;
    if (const auto n = take_after_space(text, at, [](const Char& c) { return c.is_symbol(); })) {
        return text.run(at + n, [](const Char& c) { return c.is_newline(); }) - at;
    }
    if (const auto n = take_line_breaks(text, at)) return n;
    return take_spaces(text, at);
}

std::size_t take_word(WordRule rule, const Scanner& text, std::size_t at) {
    switch (rule) {
        case WordRule::gpt2:
            return take_gpt2_word(text, at);
        case WordRule::llama3:
            return take_llama3_word(text, at, 3);
        case WordRule::qwen2:
            return take_llama3_word(text, at, 1);
    }
    return 0;
}

using Words = std::vector<std::string_view>;

// Cuts `text` into the pieces that `take` matches and those between them.
template <typename Take, typename Sink>
void isolate(std::string_view text, Take take, Sink sink) {
    const Scanner scanner(text);
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = take(scanner, at);
        if (length == 0) {
            at += scanner.at(at).length;
            continue;
        }
        if (at > start) sink(text.substr(start, at - start));
        sink(text.substr(at, length));
        at += length;
        start = at;
    }
    if (start < text.size()) sink(text.substr(start));
}

std::size_t take_punctuation(const Scanner& text, std::size_t at, PunctuationRule rule) {
    return text.run(at, [rule](const Char& c) {
        if (c.is(CharClass::punctuation)) return true;
        if (c.code == '`') return rule == PunctuationRule::with_backquote;
        return c.code < 128 && std::string_view("$+<=>^~|").find(static_cast<char>(c.code)) !=
                                   std::string_view::npos;
    }) - at;
}

std::size_t take_triple(const Scanner& text, std::size_t at) {
    for (std::size_t i = 0; i < 3; ++i) {
        if (text.byte(at + i) < '0' || text.byte(at + i) > '9') return 0;
    }
    return 3;
}

}  // namespace

std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name) {
    for (const Named& named : kNamed) {
        if (named.name == name) return named.rules;
    }
    return std::nullopt;
}

std::string pre_tokenizer_names() {
    std::string names;
    for (const Named& named : kNamed) {
        if (!names.empty()) names += ", ";
        names += named.name;
    }
    return names;
}

void split_words(const PreTokenizer& rules, std::string_view text, Words& words) {
    const auto emit = [&](std::string_view word) { words.push_back(word); };
    const auto triples = [&](std::string_view piece) {
        if (!rules.isolate_triples) return emit(piece);
        isolate(piece, take_triple, emit);
    };
    const auto numbers = [&](std::string_view piece) {
        if (!rules.isolate_numbers) return triples(piece);
        const auto take = [](const Scanner& scanner, std::size_t at) {
            return scanner.run(at, [](const Char& c) { return c.is(CharClass::number); }) - at;
        };
        isolate(piece, take, triples);
    };
    const auto by_rule = [&](std::string_view piece) {
        const Scanner scanner(piece);
        for (std::size_t at = 0; at < piece.size();) {
            const std::size_t length = take_word(rules.words, scanner, at);
            numbers(piece.substr(at, length));
            at += length;
        }
    };
    const auto digits = [&](std::string_view piece) {
        if (!rules.isolate_digits) return by_rule(piece);
        isolate(
            piece,
            [](const Scanner& scanner, std::size_t at) { return take_numbers(scanner, at, 1); },
            by_rule);
    };
    if (rules.isolate_punctuation == PunctuationRule::none) return digits(text);
    const auto take = [&](const Scanner& scanner, std::size_t at) {
        return take_punctuation(scanner, at, rules.isolate_punctuation);
    };
    isolate(text, take, digits);
}

}  // namespace hearth::text
