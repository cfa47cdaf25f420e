// Bytes of tokens through the UTF-8 assembler.
#include "engine/text/detokenizer.h"

#include <string_view>

namespace hearth::text {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, Options options)
    : tokenizer_(&tokenizer),
      options_(options),
      drop_space_(options.at_text_start && tokenizer.adds_space_prefix()) {}

std::string Detokenizer::push(TokenId id) {
    const TokenKind kind = tokenizer_->kind(id);
    const bool is_control = kind == TokenKind::control || kind == TokenKind::unknown;
    std::string text;
    if (is_control) {
        if (options_.show_control) characters_.push(tokenizer_->piece(id), text);
        return text;
    }
    std::string_view bytes = tokenizer_->bytes(id);
    if (drop_space_ && !bytes.empty()) {
        if (bytes.front() == ' ') bytes.remove_prefix(1);
        drop_space_ = false;
    }
    characters_.push(bytes, text);
    return text;
}

std::string Detokenizer::flush() {
    std::string text;
    characters_.flush(text);
    return text;
}

}  // namespace hearth::text
