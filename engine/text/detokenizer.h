// Token ids in, whole UTF-8 characters out, one token at a time. The joined output depends on the
// ids only, so a detokenizer can be rebuilt by pushing the ids of a generation again.
#pragma once

#include <string>

#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

namespace hearth::text {

class Detokenizer {
public:
    struct Options {
        // The ids begin a text, rather than continue one: the space that a SentencePiece-style
        // tokenizer put before the first word (Tokenizer::adds_space_prefix) is taken off again.
        bool at_text_start = false;
        bool show_control =
            false;  // control tokens appear as in the vocabulary, else they are no text
    };

    // Borrows the tokenizer, which must outlive the detokenizer.
    explicit Detokenizer(const Tokenizer& tokenizer) : Detokenizer(tokenizer, Options()) {}
    Detokenizer(const Tokenizer& tokenizer, Options options);

    // The characters that this token completes; bytes that cannot be UTF-8 come as U+FFFD. `id`
    // must be of the vocabulary.
    std::string push(TokenId id);
    // U+FFFD when the ids ended inside a character, else empty.
    std::string flush();
    // True while bytes of an unfinished character are held.
    bool pending() const { return characters_.pending(); }

private:
    const Tokenizer* tokenizer_;
    Options options_;
    bool drop_space_;  // the next space is the one the tokenizer added
    Utf8Assembler characters_;
};

}  // namespace hearth::text
