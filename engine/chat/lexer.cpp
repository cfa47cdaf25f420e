// Text and tags; see lexer.h. What is inside tags is in lexer_tags.cpp.
#include "engine/chat/lexer.h"

#include <algorithm>

#include "engine/chat/characters.h"
#include "engine/chat/failure.h"

namespace hearth::chat {

void Lexer::fail_here(std::string message) const {
    throw Failure{ErrorCode::template_failed, std::move(message), line_};
}

void Lexer::move_to(std::size_t at) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    at_ = at;
}

std::size_t Lexer::after_spaces(std::size_t at) const {
    while (at < source_.size()) {
        const Character next = character_at(source_, at);
        if (!is_space(next.code)) break;
        at += next.length;
    }
    return at;
}

Token Lexer::take(TokenKind kind, std::size_t length) {
    const Token token{kind, source_.substr(at_, length), line_};
    move_to(at_ + length);
    return token;
}

Token Lexer::next() {
    if (has_pending_) {
        has_pending_ = false;
        return pending_;
    }
    switch (place_) {
        case Place::text:
            return next_text();
        case Place::raw:
            return next_raw();
        case Place::variable:
        case Place::block:
            break;
    }
    return next_inside();
}

// Takes off what "-" at the tag, or lstrip_blocks, removes from the end of the text before it.
std::string_view Lexer::strip_before_tag(std::string_view text, std::size_t tag) const {
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    if (sign == '-') return text.substr(0, end_without_spaces(text));
    if (sign == '+' || source_[tag + 1] == '{') return text;
    const std::size_t newline = text.rfind('\n');
    const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
    const bool starts_line = line_start > 0 || at_ == 0 || source_[at_ - 1] == '\n';
    if (!starts_line) return text;
    const std::string_view indent = text.substr(line_start);
    const Span kept = strip_spaces(indent);
    return kept.begin == kept.end ? text.substr(0, line_start) : text;
}

Token Lexer::next_text() {
    while (at_ < source_.size()) {
        std::size_t tag = source_.find('{', at_);
        while (tag != std::string_view::npos &&
               (tag + 1 >= source_.size() ||
                std::string_view("{%#").find(source_[tag + 1]) == std::string_view::npos))
            tag = source_.find('{', tag + 1);
        if (tag == std::string_view::npos) return take(TokenKind::data, source_.size() - at_);

        const std::string_view text = strip_before_tag(source_.substr(at_, tag - at_), tag);
        const Token data{TokenKind::data, text, line_};
        move_to(tag);
        open_tag(tag);
        if (!text.empty()) return data;
        if (place_ != Place::text) return next();
    }
    return {TokenKind::end, {}, line_};
}

// Leaves a begin token pending, or skips a comment, or enters a raw block.
void Lexer::open_tag(std::size_t tag) {
    const char kind = source_[tag + 1];
    if (kind == '%') {
        if (const std::size_t length = raw_tag_length(tag, "raw"); length > 0) {
            move_to(tag + length);
            place_ = Place::raw;
            return;
        }
    }
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const std::size_t length = sign == '-' || sign == '+' ? 3 : 2;
    if (kind == '#') {
        move_to(tag + length);
        skip_comment();
        return;
    }
    const bool is_block = kind == '%';
    pending_ = take(is_block ? TokenKind::block_begin : TokenKind::variable_begin, length);
    has_pending_ = true;
    place_ = is_block ? Place::block : Place::variable;
}

void Lexer::skip_comment() {
    const std::size_t close = source_.find("#}", at_);
    if (close == std::string_view::npos) fail_here("Missing end of comment tag");
    const char sign = close > at_ ? source_[close - 1] : '\0';
    std::size_t after = close + 2;
    if (sign == '-') {
        after = after_spaces(after);
    } else if (sign != '+' && starts_with(after, "\n")) {
        ++after;
    }
    move_to(after);
}

std::size_t Lexer::raw_tag_length(std::size_t at, std::string_view name) const {
    std::size_t here = at + 2;
    if (starts_with(here, "-") || starts_with(here, "+")) ++here;
    here = after_spaces(here);
    if (!starts_with(here, name)) return 0;
    here = after_spaces(here + name.size());
    if (starts_with(here, "-%}")) return after_spaces(here + 3) - at;
    const bool is_end = name == "endraw";
    if (is_end && starts_with(here, "+%}")) return here + 3 - at;
    if (!starts_with(here, "%}")) return 0;
    // Only the end of a raw block takes the newline after it.
    const bool takes_newline = is_end && starts_with(here + 2, "\n");
    return here + (takes_newline ? 3 : 2) - at;
}

Token Lexer::next_raw() {
    for (std::size_t tag = source_.find("{%", at_); tag != std::string_view::npos;
         tag = source_.find("{%", tag + 1)) {
        const std::size_t length = raw_tag_length(tag, "endraw");
        if (length == 0) continue;
        const Token data{TokenKind::data, strip_before_tag(source_.substr(at_, tag - at_), tag),
                         line_};
        move_to(tag + length);
        place_ = Place::text;
        return data;
    }
    fail_here("Missing end of raw directive");
}

}  // namespace hearth::chat
