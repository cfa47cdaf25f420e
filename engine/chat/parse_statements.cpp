// Tags: if, for, set, macro, call, filter, with, generation, break, continue; see parser.h.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/chat/nest.h"
#include "engine/chat/parser.h"

namespace hearth::chat {
namespace {

// Tags of Jinja2 that reach for other templates or that no chat template has a use for.
constexpr std::array<std::string_view, 10> kRefused = {
    "include", "import", "from", "extends", "block", "autoescape", "do", "trans", "debug", "raw"};

constexpr std::array<std::string_view, 16> kEnds = {
    "endif",    "elif",          "else",       "endfor",   "endset",        "endmacro",
    "endcall",  "endfilter",     "endwith",    "endraw",   "endgeneration", "endblock",
    "endtrans", "endautoescape", "endinclude", "pluralize"};

// Restores a parser's flag at the end of a scope.
class Restore {
public:
    Restore(bool& flag, bool value) : flag_(flag), before_(flag) { flag_ = value; }
    ~Restore() { flag_ = before_; }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

private:
    bool& flag_;
    bool before_;
};

bool names(const Target& target, Symbol symbol) {
    if (!target.is_tuple) return target.symbol == symbol;
    return std::any_of(target.parts.begin(), target.parts.end(),
                       [symbol](const Target& part) { return names(part, symbol); });
}

}  // namespace

// Statements up to a tag in `ends`, whose name becomes the current token; up to the end of the
// source if none given.
Body Parser::parse_body(Names ends) {
    Body body;
    for (;;) {
        if (!unknown_.empty()) throw unknown_.front();
        switch (token_.kind) {
            case TokenKind::data: {
                const Token data = advance();
                if (data.text.empty()) break;
                auto* text = make<OutputStatement>(data.line);
                text->value =
                    make<ConstantExpr>(Value::string(data.text, Origin::trusted), data.line);
                body.push_back(text);
                break;
            }
            case TokenKind::variable_begin: {
                auto* output = make<OutputStatement>(advance().line);
                output->value = parse_tuple(true, false);
                expect(TokenKind::variable_end, "'}}'");
                body.push_back(output);
                break;
            }
            case TokenKind::block_begin: {
                advance();
                if (token_.kind == TokenKind::name &&
                    std::find(ends.begin(), ends.end(), token_.text) != ends.end())
                    return body;
                body.push_back(parse_statement());
                expect(TokenKind::block_end, "'%}'");
                break;
            }
            default:
                if (ends.size() == 0) return body;
                fail_expected("'" + std::string(*(ends.end() - 1)) + "'");
        }
    }
}

// From the end of a tag to the tag that ends its body.
Body Parser::parse_block(Names ends) {
    const Nest nest(*this);
    skip_symbol(":");
    expect(TokenKind::block_end, "'%}'");
    return parse_body(ends);
}

const Statement* Parser::parse_statement() {
    if (token_.kind != TokenKind::name) fail_expected("the name of a tag");
    const std::string_view name = token_.text;
    if (name == "if") return parse_branch();
    if (name == "for") return parse_loop();
    if (name == "set") return parse_assign();
    if (name == "macro") return parse_macro();
    if (name == "call") return parse_call_block();
    if (name == "generation") return parse_generation();
    if (name == "filter") return parse_filter_block();
    if (name == "with") return parse_with();
    if (name == "break") return parse_jump(StatementKind::break_loop);
    if (name == "continue") return parse_jump(StatementKind::continue_loop);
    if (name == "print") return parse_print();
    fail_unknown_tag(token_);
}

const Statement* Parser::parse_print() {
    auto* output = make<OutputStatement>(advance().line);
    auto* all = make<ChainExpr>(ExprKind::concat, output->line);
    all->first = parse_expression();
    below(*all, all->first);
    while (skip_symbol(",")) {
        all->rest.emplace_back(Operator::add, parse_expression());
        below(*all, all->rest.back().second);
    }
    output->value = all;
    return output;
}

void Parser::fail_unknown_tag(const Token& token) const {
    const std::string name(token.text.substr(0, 40));
    if (std::find(kRefused.begin(), kRefused.end(), token.text) != kRefused.end())
        fail_line("chat templates may not use the tag '" + name + "'");
    if (std::find(kEnds.begin(), kEnds.end(), token.text) != kEnds.end())
        fail_line("the tag '" + name + "' does not belong here");
    fail_line("unknown tag '" + name + "'");
}

const Statement* Parser::parse_branch() {
    auto* branch = make<BranchStatement>(token_.line);
    const Restore soft(is_soft_, true);
    do {
        advance();
        const Expr* test = parse_tuple(false, false);
        branch->branches.emplace_back(test, parse_block({"elif", "else", "endif"}));
    } while (token_.is_name("elif"));
    if (skip_name("else")) branch->otherwise = parse_block({"endif"});
    expect_name("endif");
    return branch;
}

const Statement* Parser::parse_loop() {
    auto* loop = make<LoopStatement>(advance().line);
    loop->target = parse_targets(false);
    if (names(loop->target, tree_->loop)) fail_line("can't assign to the special name 'loop'");
    expect_name("in");
    loop->items = parse_tuple(false, false);
    const Restore soft(is_soft_, false);
    if (skip_name("if")) loop->condition = parse_expression();
    loop->is_recursive = skip_name("recursive");
    {
        const Restore in_loop(in_loop_, true);
        loop->body = parse_block({"endfor", "else"});
    }
    if (skip_name("else")) loop->otherwise = parse_block({"endfor"});
    expect_name("endfor");
    return loop;
}

const Statement* Parser::parse_assign() {
    const int line = advance().line;
    Target target = parse_targets(true);
    if (skip_symbol("=")) {
        auto* assign = make<AssignStatement>(StatementKind::assign, line);
        assign->target = std::move(target);
        assign->value = parse_tuple(true, false);
        return assign;
    }
    auto* assign = make<AssignStatement>(StatementKind::assign_block, line);
    assign->target = std::move(target);
    while (skip_symbol("|")) assign->value = parse_filter(assign->value);
    const Restore soft(is_soft_, false);
    assign->body = parse_block({"endset"});
    expect_name("endset");
    return assign;
}

void Parser::parse_parameters(MacroStatement& macro) {
    expect_symbol("(");
    while (!token_.is_symbol(")")) {
        if (!macro.parameters.empty()) expect_symbol(",");
        const std::string_view name = take_name();
        Parameter parameter{intern(name), std::string(name)};
        if (skip_symbol("=")) {
            parameter.fallback = parse_expression();
        } else if (!macro.parameters.empty() && macro.parameters.back().fallback != nullptr) {
            fail_line("non-default argument follows default argument");
        }
        macro.parameters.push_back(std::move(parameter));
    }
    expect_symbol(")");
}

void Parser::parse_macro_body(MacroStatement& macro, std::string_view end) {
    const Restore soft(is_soft_, false);
    const Restore in_loop(in_loop_, false);
    MacroStatement* const outer = std::exchange(macro_, &macro);
    macro.body = parse_block({end});
    expect_name(end);
    macro_ = outer;
    if (outer == nullptr) return;
    outer->uses_caller |= macro.uses_caller;
    outer->uses_varargs |= macro.uses_varargs;
    outer->uses_kwargs |= macro.uses_kwargs;
}

const Statement* Parser::parse_macro() {
    auto* macro = make<MacroStatement>(StatementKind::macro, advance().line);
    macro->name = take_name();
    macro->symbol = intern(macro->name);
    parse_parameters(*macro);
    parse_macro_body(*macro, "endmacro");
    return macro;
}

const Statement* Parser::parse_call_block() {
    auto* block = make<MacroStatement>(StatementKind::call_block, advance().line);
    block->name = "caller";
    if (token_.is_symbol("(")) parse_parameters(*block);
    const Expr* call = parse_expression();
    if (call->kind != ExprKind::call) fail_line("expected a call");
    block->call = static_cast<const CallExpr*>(call);
    parse_macro_body(*block, "endcall");
    return block;
}

const Statement* Parser::parse_generation() {
    auto* block = make<MacroStatement>(StatementKind::call_block, advance().line);
    block->name = "caller";
    parse_macro_body(*block, "endgeneration");
    return block;
}

const Statement* Parser::parse_filter_block() {
    auto* block = make<FilterStatement>(token_.line);
    do {
        advance();
        block->filters = parse_filter(block->filters);
    } while (token_.is_symbol("|"));
    const Restore soft(is_soft_, false);
    block->body = parse_block({"endfilter"});
    expect_name("endfilter");
    return block;
}

const Statement* Parser::parse_with() {
    auto* with = make<WithStatement>(advance().line);
    while (token_.kind != TokenKind::block_end) {
        if (!with->assignments.empty()) expect_symbol(",");
        Target target = parse_targets(false);
        expect_symbol("=");
        with->assignments.emplace_back(std::move(target), parse_expression());
    }
    const Restore soft(is_soft_, false);
    with->body = parse_block({"endwith"});
    expect_name("endwith");
    return with;
}

const Statement* Parser::parse_jump(StatementKind kind) {
    if (!in_loop_) fail_line("'" + std::string(token_.text) + "' outside of a loop");
    return make<Statement>(kind, advance().line);
}

Target Parser::parse_target(bool allow_member) {
    Target target;
    if (skip_symbol("(")) {
        const Nest nest(*this);
        target = parse_targets(allow_member);
        expect_symbol(")");
        return target;
    }
    const std::string_view name = take_name();
    constexpr std::array<std::string_view, 6> kConstants = {"true", "false", "none",
                                                            "True", "False", "None"};
    if (std::find(kConstants.begin(), kConstants.end(), name) != kConstants.end())
        fail_line("can't assign to '" + std::string(name) + "'");
    target.symbol = intern(name);
    if (allow_member && skip_symbol(".")) target.member = Value::string(take_name());
    return target;
}

Target Parser::parse_targets(bool allow_member) {
    Target first = parse_target(allow_member);
    if (!token_.is_symbol(",")) return first;
    Target tuple;
    tuple.is_tuple = true;
    tuple.parts.push_back(std::move(first));
    while (skip_symbol(",")) {
        if (token_.is_name("in") || token_.is_symbol("=") || token_.is_symbol(")") ||
            token_.kind == TokenKind::block_end)
            break;
        tuple.parts.push_back(parse_target(allow_member));
    }
    return tuple;
}

}  // namespace hearth::chat
