// T039b. Bytes from outside through the text side of a generation. The first byte chooses: encode
// and decode with one of the tokenizers, or stream token-sized pieces through UTF-8 assembly and
// stop strings and compare with the same on whole strings, written here in the plainest way.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/marked_text.h"
#include "engine/base/utf8.h"
#include "engine/text/detokenizer.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/stop_matcher.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/vocabulary_maker.h"

namespace {

using namespace hearth;
using namespace hearth::text;

const std::vector<Tokenizer>& tokenizers() {
    static const std::vector<Tokenizer> all = [] {
        std::vector<Tokenizer> made;
        for (const char* pre :
             {"gpt-2", "smollm", "starcoder", "llama-bpe", "qwen2", "default", "falcon"}) {
            made.push_back(Tokenizer::load(test::byte_level_vocabulary(pre).metadata()).value());
        }
        made.push_back(Tokenizer::load(test::sentence_piece_vocabulary().metadata()).value());
        return made;
    }();
    return all;
}

// As a stream of characters with errors replaced, by the rule in utf8.h.
std::string repair(std::string_view bytes) {
    std::string out;
    for (std::size_t at = 0; at < bytes.size();) {
        const Decoded c = decode_utf8(bytes, at);
        append_utf8(out, c.code);
        at += c.length;
    }
    return out;
}

std::string decode(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
    Detokenizer detokenizer(tokenizer, {.at_text_start = true});
    std::string text;
    for (const TokenId id : ids) {
        const std::string piece = detokenizer.push(id);
        HEARTH_CHECK(!find_utf8_error(piece));
        text += piece;
    }
    text += detokenizer.flush();
    return text;
}

void check_words(const Tokenizer& tokenizer, std::string_view text) {
    const auto rules = find_pre_tokenizer(tokenizer.pre_tokenizer());
    if (!rules) return;
    std::vector<std::string_view> words;
    split_words(*rules, text, words);
    std::string joined;
    for (const std::string_view word : words) {
        HEARTH_CHECK(!word.empty());
        HEARTH_CHECK(!find_utf8_error(word));
        joined += word;
    }
    HEARTH_CHECK(joined == text);
}

// Every third byte or so of the text is foreign: where, the second input byte says.
void encode_and_decode(const Tokenizer& tokenizer, std::uint8_t pattern, std::string_view bytes) {
    const auto raw = tokenizer.encode(bytes, {});
    HEARTH_CHECK(raw.has_value() == !find_utf8_error(bytes));

    const std::string text = repair(bytes);
    check_words(tokenizer, text);
    const auto ids = tokenizer.encode(text, {});
    HEARTH_CHECK(ids.has_value());
    for (const TokenId id : *ids) {
        HEARTH_CHECK(id >= 0 && id < tokenizer.size());
        HEARTH_CHECK(tokenizer.kind(id) != TokenKind::control);
    }
    // SentencePiece's mark comes back as a space, and so does the space put after a special token.
    const bool reversible =
        !tokenizer.adds_space_prefix() || (text.find("\xE2\x96\x81") == std::string::npos &&
                                           text.find("<think>") == std::string::npos);
    if (reversible) HEARTH_CHECK(decode(tokenizer, *ids) == text);

    MarkedText marked;
    std::size_t controls = 0;  // at most one for each trusted '<'
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool trusted = ((pattern >> (i / 4 % 8)) & 1) != 0;
        marked.append({&text[i], 1}, trusted);
        controls += trusted && text[i] == '<' ? 1 : 0;
    }
    const auto mixed = tokenizer.encode(marked, pattern % 2 == 0);
    HEARTH_CHECK(mixed.has_value());
    std::size_t found = 0;
    for (const TokenId id : *mixed) found += tokenizer.kind(id) == TokenKind::control ? 1 : 0;
    HEARTH_CHECK(found <= controls + 1);
}

struct Ending {
    std::string text;
    bool stopped = false;
};

Ending stop_reference(const std::string& text, const std::vector<std::string>& stops) {
    for (std::size_t end = 1; end <= text.size(); ++end) {
        std::size_t longest = 0;
        for (const std::string& stop : stops) {
            const bool ends = std::string_view(text).substr(0, end).ends_with(stop);
            if (ends && stop.size() > longest) longest = stop.size();
        }
        if (longest > 0) return {text.substr(0, end - longest), true};
    }
    return {text, false};
}

// Input: up to three stop strings with their length before them, then pieces with their length
// before them.
void stream(const Tokenizer& tokenizer, std::string_view input) {
    const auto take = [&input](std::size_t longest) {
        if (input.empty()) return std::string_view();
        const std::size_t wanted = static_cast<unsigned char>(input[0]) % (longest + 1);
        input.remove_prefix(1);
        const std::string_view part = input.substr(0, wanted);
        input.remove_prefix(part.size());
        return part;
    };
    std::vector<std::string> stops;
    for (int i = 0; i < 3; ++i) stops.push_back(repair(take(6)));

    std::vector<TokenId> byte_tokens(256, -1);
    for (TokenId id = 0; id < tokenizer.size(); ++id) {
        if (tokenizer.bytes(id).size() != 1) continue;
        byte_tokens[static_cast<unsigned char>(tokenizer.bytes(id)[0])] = id;
    }
    Detokenizer detokenizer(tokenizer);
    Utf8Assembler assembler;
    StopMatcher matcher(stops);
    std::string bytes;
    std::string shown;
    while (!input.empty() && !matcher.stopped()) {
        const std::string_view piece = take(5);
        bytes += piece;
        std::string characters;
        assembler.push(piece, characters);
        std::string from_tokens;
        for (const char c : piece) {
            from_tokens += detokenizer.push(byte_tokens[static_cast<unsigned char>(c)]);
        }
        HEARTH_CHECK(from_tokens == characters);
        const auto output = matcher.push(characters);
        HEARTH_CHECK(!find_utf8_error(output.text));
        shown += output.text;
    }
    if (!matcher.stopped()) {
        std::string rest;
        assembler.flush(rest);
        shown += matcher.push(rest).text;
        shown += matcher.flush();
    }
    const Ending expected = stop_reference(repair(bytes), stops);
    HEARTH_CHECK(matcher.stopped() == expected.stopped);
    HEARTH_CHECK(shown == expected.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    // reinterpret_cast: libFuzzer hands out bytes; our text is chars.
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto& all = tokenizers();
    const std::size_t choice = data[0] % (all.size() + 2);
    if (choice < all.size()) {
        encode_and_decode(all[choice], data[1], input.substr(2));
    } else {
        stream(choice == all.size() ? all.front() : all.back(), input.substr(1));
    }
    return 0;
}
