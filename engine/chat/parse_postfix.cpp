// What follows an operand: members, subscripts, calls, filters, tests; see parser.h.
#include <algorithm>
#include <utility>

#include "engine/chat/functions.h"
#include "engine/chat/nest.h"
#include "engine/chat/parser.h"

namespace hearth::chat {
namespace {

constexpr std::size_t kMaxNamed = 255;  // each is compared with those before it

}  // namespace

const Expr* Parser::parse_postfix(const Expr* expr) {
    for (;;) {
        if (token_.is_symbol(".")) {
            expr = parse_attribute(expr);
        } else if (token_.is_symbol("[")) {
            expr = parse_subscript(expr);
        } else if (token_.is_symbol("(")) {
            expr = parse_call(expr);
        } else {
            return expr;
        }
    }
}

const Expr* Parser::parse_filters_and_tests(const Expr* expr) {
    for (;;) {
        if (token_.is_symbol("|")) {
            advance();
            expr = parse_filter(expr);
        } else if (token_.is_name("is")) {
            expr = parse_test(expr);
        } else if (token_.is_symbol("(")) {
            expr = parse_call(expr);
        } else {
            return expr;
        }
    }
}

const Expr* Parser::parse_attribute(const Expr* object) {
    const int line = advance().line;
    if (token_.kind == TokenKind::integer) {
        auto* item = make<ItemExpr>(line);
        item->object = object;
        item->index = parse_number();
        below(*item, object);
        return item;
    }
    const std::string_view name = take_name();
    auto* attribute = make<AttributeExpr>(line);
    attribute->object = object;
    attribute->name = Value::string(name, Origin::trusted);
    attribute->methods = find_methods(name);
    below(*attribute, object);
    return attribute;
}

const Expr* Parser::parse_subscript(const Expr* object) {
    auto* item = make<ItemExpr>(advance().line);
    item->object = object;
    item->index = parse_subscript_part();
    if (token_.is_symbol(",")) {
        auto* tuple = make<ListExpr>(token_.line);
        tuple->is_tuple = true;
        tuple->items.push_back(item->index);
        below(*tuple, item->index);
        while (skip_symbol(",")) {
            tuple->items.push_back(parse_subscript_part());
            below(*tuple, tuple->items.back());
        }
        item->index = tuple;
    }
    expect_symbol("]");
    below(*item, object);
    below(*item, item->index);
    return item;
}

const Expr* Parser::parse_subscript_part() {
    const int line = token_.line;
    const Expr* start = nullptr;
    if (!token_.is_symbol(":")) {
        start = parse_expression();
        if (!token_.is_symbol(":")) return start;
    }
    advance();
    auto* slice = make<SliceExpr>(line);
    slice->start = start;
    const auto at_end = [this] { return token_.is_symbol("]") || token_.is_symbol(","); };
    if (!token_.is_symbol(":") && !at_end()) slice->stop = parse_expression();
    if (skip_symbol(":") && !at_end()) slice->step = parse_expression();
    below(*slice, slice->start);
    below(*slice, slice->stop);
    below(*slice, slice->step);
    return slice;
}

CallArguments Parser::parse_arguments(int& depth) {
    CallArguments arguments;
    const auto note = [&depth](const Expr* expr) {
        depth = std::max(depth, expr->depth);
        return expr;
    };
    expect_symbol("(");
    for (bool is_first = true; !token_.is_symbol(")"); is_first = false) {
        if (!is_first) {
            expect_symbol(",");
            if (token_.is_symbol(")")) break;
        }
        const bool has_more = arguments.more_positional != nullptr;
        if (arguments.more_named != nullptr) fail_line("invalid syntax for function call");
        if (skip_symbol("*")) {
            if (has_more) fail_line("invalid syntax for function call");
            arguments.more_positional = note(parse_expression());
        } else if (skip_symbol("**")) {
            arguments.more_named = note(parse_expression());
        } else if (token_.kind == TokenKind::name && look().is_symbol("=")) {
            std::string name(advance().text);
            advance();
            if (arguments.named.size() >= kMaxNamed) fail_line("too many keyword arguments");
            for (const auto& [other, value] : arguments.named)
                if (other == name) fail_line("keyword argument repeated: " + name);
            arguments.named.emplace_back(std::move(name), note(parse_expression()));
        } else {
            if (has_more || !arguments.named.empty()) fail_line("invalid syntax for function call");
            arguments.positional.push_back(note(parse_expression()));
        }
    }
    expect_symbol(")");
    return arguments;
}

const Expr* Parser::parse_call(const Expr* callee) {
    auto* call = make<CallExpr>(token_.line);
    call->callee = callee;
    int depth = callee->depth;
    call->arguments = parse_arguments(depth);
    below(*call, depth);
    return call;
}

std::string Parser::parse_dotted_name() {
    std::string name(take_name());
    while (skip_symbol(".")) {
        name += '.';
        name += take_name();
    }
    return name;
}

const Expr* Parser::parse_filter(const Expr* input) {
    auto* filter = make<FilterExpr>(ExprKind::filter, token_.line);
    filter->input = input;
    filter->name = parse_dotted_name();
    filter->function = find_filter(filter->name);
    if (filter->function == nullptr && !is_soft_)
        note_unknown(filter->line, "no filter named '" + filter->name.substr(0, 40) + "'");
    int depth = input != nullptr ? input->depth : 0;
    if (token_.is_symbol("(")) filter->arguments = parse_arguments(depth);
    below(*filter, depth);
    return filter;
}

const Expr* Parser::parse_test(const Expr* input) {
    const int line = advance().line;
    const bool is_negated = skip_name("not");
    auto* test = make<FilterExpr>(ExprKind::test, line);
    test->input = input;
    test->name = parse_dotted_name();
    test->function = find_test(test->name);
    if (test->function == nullptr && !is_soft_)
        note_unknown(line, "no test named '" + test->name.substr(0, 40) + "'");
    int depth = input->depth;
    const bool is_operand = token_.kind == TokenKind::string || token_.kind == TokenKind::integer ||
                            token_.kind == TokenKind::real || token_.is_symbol("[") ||
                            token_.is_symbol("{") ||
                            (token_.kind == TokenKind::name && !token_.is_name("else") &&
                             !token_.is_name("or") && !token_.is_name("and"));
    if (token_.is_symbol("(")) {
        test->arguments = parse_arguments(depth);
    } else if (is_operand) {
        if (token_.is_name("is")) fail_line("tests cannot be chained with 'is'");
        const Nest nest(*this);
        const Expr* operand = parse_postfix(parse_primary());
        test->arguments.positional.push_back(operand);
        depth = std::max(depth, operand->depth);
    }
    below(*test, depth);
    if (!is_negated) return test;
    auto* negation = make<UnaryExpr>(line);
    negation->op = Operator::logical_not;
    negation->operand = test;
    below(*negation, test);
    return negation;
}

}  // namespace hearth::chat
