// From tokens to a tree: Jinja2's grammar without template inheritance and includes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/chat/budget.h"
#include "engine/chat/lexer.h"
#include "engine/chat/tree.h"

namespace hearth::chat {

class Parser {
public:
    // `source` outlives the parser, not the tree.
    Parser(std::string_view source, const Limits& limits);

    // Throws Failure with the line.
    std::unique_ptr<Tree> parse();

private:
    class Nest;  // one level of nesting, as long as it lives
    using Names = std::initializer_list<std::string_view>;

    // parse_statements.cpp
    Body parse_body(Names ends);
    Body parse_block(Names ends);
    const Statement* parse_statement();
    const Statement* parse_print();
    const Statement* parse_branch();
    const Statement* parse_loop();
    const Statement* parse_assign();
    const Statement* parse_macro();
    const Statement* parse_call_block();
    const Statement* parse_generation();
    const Statement* parse_filter_block();
    const Statement* parse_with();
    const Statement* parse_jump(StatementKind kind);
    void parse_parameters(MacroStatement& macro);
    void parse_macro_body(MacroStatement& macro, std::string_view end);
    Target parse_target(bool allow_member);
    Target parse_targets(bool allow_member);
    [[noreturn]] void fail_unknown_tag(const Token& token) const;

    // parse_expressions.cpp
    const Expr* parse_expression(bool with_condition = true);
    const Expr* parse_tuple(bool with_condition, bool in_parentheses);
    const Expr* parse_binary(int level);
    const Expr* parse_chain(const Expr* first, int level);
    const Expr* parse_unary(bool with_filters);
    const Expr* parse_primary();
    const Expr* parse_name();
    const Expr* parse_number();
    const Expr* parse_string();
    const Expr* parse_list();
    const Expr* parse_dictionary();
    const Expr* parse_postfix(const Expr* expr);
    const Expr* parse_attribute(const Expr* object);
    const Expr* parse_subscript(const Expr* object);
    const Expr* parse_subscript_part();
    const Expr* parse_call(const Expr* callee);
    const Expr* parse_filters_and_tests(const Expr* expr);
    const Expr* parse_filter(const Expr* input);
    const Expr* parse_test(const Expr* input);
    int operator_level(Operator& op);
    CallArguments parse_arguments(int& depth);
    std::string parse_dotted_name();
    bool is_tuple_end() const;

    // parser.cpp
    template <typename T, typename... Args>
    T* make(Args&&... args) {
        auto part = std::make_unique<T>(std::forward<Args>(args)...);
        T* raw = part.get();
        tree_->parts.push_back(std::move(part));
        if (tree_->parts.size() > kMaxParts) fail_line("the template is too large");
        return raw;
    }
    // Notes that `child` (may be null) lies below `parent`.
    void below(Expr& parent, const Expr* child) { below(parent, child ? child->depth : 0); }
    void below(Expr& parent, int child_depth);
    // An unknown filter or test: an error, unless a conditional expression turns out to be around
    // it.
    void note_unknown(int line, std::string message);
    Symbol intern(std::string_view name);
    Token advance();
    const Token& look();
    bool skip_symbol(std::string_view symbol);
    bool skip_name(std::string_view name);
    void expect_symbol(std::string_view symbol);
    void expect_name(std::string_view name);
    void expect(TokenKind kind, std::string_view what);
    std::string_view take_name();
    [[noreturn]] void fail_line(std::string message) const;
    [[noreturn]] void fail_at(int line, std::string message) const;
    [[noreturn]] void fail_expected(std::string_view what) const;

    // About 100 bytes each: no source of 1 MiB costs more than some 40 MiB.
    static constexpr std::size_t kMaxParts = 400'000;

    const Limits limits_;
    StackGuard stack_;
    Lexer lexer_;
    Token token_{};  // the current one
    Token ahead_{};
    bool has_ahead_ = false;
    int nesting_ = 0;
    bool in_loop_ = false;
    // Inside {% if %} or a conditional expression an unknown filter or test is an error only when
    // it is reached.
    bool is_soft_ = false;
    std::vector<Failure> unknown_;
    // Special names that the macro being parsed mentions.
    MacroStatement* macro_ = nullptr;
    std::unordered_map<std::string, Symbol> symbols_;
    std::unique_ptr<Tree> tree_;
};

}  // namespace hearth::chat
