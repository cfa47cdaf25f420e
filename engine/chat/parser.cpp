// The token stream and the helpers of the parser; see parser.h.
#include "engine/chat/parser.h"

#include <algorithm>

#include "engine/chat/nest.h"

namespace hearth::chat {

Parser::Parser(std::string_view source, const Limits& limits)
    : limits_(limits),
      stack_(limits.stack_bytes),
      lexer_(source),
      tree_(std::make_unique<Tree>()) {}

std::unique_ptr<Tree> Parser::parse() {
    tree_->loop = intern("loop");
    tree_->caller = intern("caller");
    tree_->varargs = intern("varargs");
    tree_->kwargs = intern("kwargs");
    advance();
    tree_->body = parse_body({});
    return std::move(tree_);
}

Symbol Parser::intern(std::string_view name) {
    const auto [at, is_new] =
        symbols_.try_emplace(std::string(name), static_cast<Symbol>(tree_->symbols.size()));
    if (is_new) {
        tree_->symbols.emplace_back(name);
        tree_->is_read.push_back(false);
    }
    return at->second;
}

void Parser::note_unknown(int line, std::string message) {
    unknown_.push_back({ErrorCode::template_failed, std::move(message), line});
}

void Parser::below(Expr& parent, int child_depth) {
    parent.depth = std::max(parent.depth, child_depth + 1);
    if (parent.depth > limits_.depth) {
        try {
            fail_too_deep("expressions", limits_.depth);
        } catch (Failure& failure) {
            failure.line = parent.line;
            throw;
        }
    }
}

// Returns the token that was current.
Token Parser::advance() {
    const Token before = token_;
    if (has_ahead_) {
        token_ = ahead_;
        has_ahead_ = false;
    } else {
        token_ = lexer_.next();
    }
    return before;
}

const Token& Parser::look() {
    if (!has_ahead_) ahead_ = lexer_.next();
    has_ahead_ = true;
    return ahead_;
}

bool Parser::skip_symbol(std::string_view symbol) {
    if (!token_.is_symbol(symbol)) return false;
    advance();
    return true;
}

bool Parser::skip_name(std::string_view name) {
    if (!token_.is_name(name)) return false;
    advance();
    return true;
}

void Parser::expect_symbol(std::string_view symbol) {
    if (!skip_symbol(symbol)) fail_expected("'" + std::string(symbol) + "'");
}

void Parser::expect_name(std::string_view name) {
    if (!skip_name(name)) fail_expected("'" + std::string(name) + "'");
}

void Parser::expect(TokenKind kind, std::string_view what) {
    if (token_.kind != kind) fail_expected(what);
    advance();
}

std::string_view Parser::take_name() {
    if (token_.kind != TokenKind::name) fail_expected("a name");
    return advance().text;
}

void Parser::fail_at(int line, std::string message) const {
    throw Failure{ErrorCode::template_failed, std::move(message), line};
}

void Parser::fail_line(std::string message) const { fail_at(token_.line, std::move(message)); }

void Parser::fail_expected(std::string_view what) const {
    std::string got;
    switch (token_.kind) {
        case TokenKind::end:
            got = "the end of the template";
            break;
        case TokenKind::data:
            got = "text";
            break;
        case TokenKind::variable_begin:
            got = "'{{'";
            break;
        case TokenKind::block_begin:
            got = "'{%'";
            break;
        case TokenKind::variable_end:
        case TokenKind::block_end:
        case TokenKind::name:
        case TokenKind::string:
        case TokenKind::integer:
        case TokenKind::real:
        case TokenKind::symbol:
            got = "'" + std::string(token_.text.substr(0, 40)) + "'";
            break;
    }
    fail_line("expected " + std::string(what) + ", got " + got);
}

}  // namespace hearth::chat
