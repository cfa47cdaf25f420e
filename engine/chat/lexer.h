// Cuts a template into tokens as Jinja2's lexer does with trim_blocks and lstrip_blocks: text,
// tags, and what is inside tags. Works on demand; tokens view the source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::chat {

enum class TokenKind : std::uint8_t {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    string,  // with its quotes and escapes
    integer,
    real,
    symbol,  // an operator or bracket
    end,
};

struct Token {
    TokenKind kind;
    std::string_view text;
    int line;

    bool is_symbol(std::string_view symbol) const {
        return kind == TokenKind::symbol && text == symbol;
    }
    bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

class Lexer {
public:
    // `source` has "\n" newlines only and outlives the lexer and its tokens.
    explicit Lexer(std::string_view source) : source_(source) {}

    // Throws Failure with the line.
    Token next();

private:
    enum class Place : std::uint8_t { text, variable, block, raw };

    Token next_text();
    Token next_raw();
    Token next_inside();
    bool take_tag_end(Token& token);
    std::size_t number_length(TokenKind& kind) const;
    std::size_t name_length() const;
    std::size_t string_length() const;
    Token symbol();
    void skip_comment();
    // The length of "raw" or "endraw" tag at `at` with its whitespace, or 0.
    std::size_t raw_tag_length(std::size_t at, std::string_view name) const;
    std::string_view strip_before_tag(std::string_view text, std::size_t tag) const;
    void open_tag(std::size_t tag);
    Token take(TokenKind kind, std::size_t length);
    bool starts_with(std::size_t at, std::string_view text) const {
        return source_.substr(at, text.size()) == text;
    }
    std::size_t after_spaces(std::size_t at) const;
    void move_to(std::size_t at);
    [[noreturn]] void fail_here(std::string message) const;

    std::string_view source_;
    std::size_t at_ = 0;
    int line_ = 1;
    Place place_ = Place::text;
    std::string open_brackets_;  // the closing brackets that are due
    bool has_pending_ = false;   // a tag's begin token waits behind its text
    Token pending_{};
};

// The text of a string token: quotes off, Python's escapes resolved. Throws Failure.
std::string unescape(std::string_view quoted);

}  // namespace hearth::chat
