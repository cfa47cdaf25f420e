// Expressions, by precedence: or, and, not, comparisons, + -, ~, * / // %, **, signs, then what
// follows an operand (members, calls, filters, tests); see parser.h.
#include <array>
#include <charconv>
#include <utility>

#include "engine/chat/functions.h"
#include "engine/chat/nest.h"
#include "engine/chat/parser.h"

namespace hearth::chat {
namespace {

enum Level : int { kNone, kOr, kAnd, kNot, kCompare, kSum, kConcat, kProduct, kPower };

struct OperatorToken {
    std::string_view text;
    Operator op;
    int level;
};

constexpr std::array<OperatorToken, 14> kSymbols = {{
    {"==", Operator::equal, kCompare},
    {"!=", Operator::not_equal, kCompare},
    {"<=", Operator::less_equal, kCompare},
    {">=", Operator::greater_equal, kCompare},
    {"<", Operator::less, kCompare},
    {">", Operator::greater, kCompare},
    {"+", Operator::add, kSum},
    {"-", Operator::subtract, kSum},
    {"~", Operator::add, kConcat},
    {"*", Operator::multiply, kProduct},
    {"/", Operator::divide, kProduct},
    {"//", Operator::floor_divide, kProduct},
    {"%", Operator::modulo, kProduct},
    {"**", Operator::power, kPower},
}};

ExprKind kind_of_level(int level) {
    switch (level) {
        case kOr:
        case kAnd:
            return ExprKind::logic;
        case kCompare:
            return ExprKind::compare;
        case kConcat:
            return ExprKind::concat;
        default:
            return ExprKind::arithmetic;
    }
}

}  // namespace

bool Parser::is_tuple_end() const {
    return token_.kind == TokenKind::variable_end || token_.kind == TokenKind::block_end ||
           token_.is_symbol(")") || token_.is_name("recursive");
}

const Expr* Parser::parse_tuple(bool with_condition, bool in_parentheses) {
    auto* tuple = static_cast<ListExpr*>(nullptr);
    const int line = token_.line;
    if (is_tuple_end()) {
        if (!in_parentheses) fail_expected("an expression");
        tuple = make<ListExpr>(line);
        tuple->is_tuple = true;
        return tuple;
    }
    const Expr* first = parse_expression(with_condition);
    if (!token_.is_symbol(",")) return first;
    tuple = make<ListExpr>(line);
    tuple->is_tuple = true;
    tuple->items.push_back(first);
    below(*tuple, first);
    while (skip_symbol(",")) {
        if (is_tuple_end()) break;
        tuple->items.push_back(parse_expression(with_condition));
        below(*tuple, tuple->items.back());
    }
    return tuple;
}

const Expr* Parser::parse_expression(bool with_condition) {
    const Nest nest(*this);
    const std::size_t known_before = unknown_.size();
    const Expr* expr = parse_binary(kOr);
    if (!with_condition) return expr;
    while (token_.is_name("if")) {
        auto* conditional = make<ConditionalExpr>(advance().line);
        conditional->yes = expr;
        unknown_.resize(known_before);
        const bool was_soft = std::exchange(is_soft_, true);
        conditional->test = parse_binary(kOr);
        if (skip_name("else")) conditional->no = parse_expression();
        is_soft_ = was_soft;
        below(*conditional, conditional->test);
        below(*conditional, conditional->yes);
        below(*conditional, conditional->no);
        expr = conditional;
    }
    return expr;
}

// The level of the operator that is the current token, or kNone.
int Parser::operator_level(Operator& op) {
    if (token_.kind == TokenKind::symbol) {
        for (const OperatorToken& symbol : kSymbols) {
            if (symbol.text != token_.text) continue;
            op = symbol.op;
            return symbol.level;
        }
        return kNone;
    }
    if (token_.kind != TokenKind::name) return kNone;
    if (token_.text == "or") return op = Operator::logical_or, kOr;
    if (token_.text == "and") return op = Operator::logical_and, kAnd;
    if (token_.text == "in") return op = Operator::in, kCompare;
    if (token_.text == "not" && look().is_name("in")) return op = Operator::not_in, kCompare;
    return kNone;
}

const Expr* Parser::parse_binary(int level) {
    const Expr* expr = nullptr;
    if (level <= kNot && token_.is_name("not")) {
        const Nest nest(*this);
        auto* unary = make<UnaryExpr>(advance().line);
        unary->op = Operator::logical_not;
        unary->operand = parse_binary(kNot);
        below(*unary, unary->operand);
        expr = unary;
    } else {
        expr = parse_unary(true);
    }
    Operator op{};
    for (int found = operator_level(op); found >= level && found != kNone;
         found = operator_level(op))
        expr = parse_chain(expr, found);
    return expr;
}

const Expr* Parser::parse_chain(const Expr* first, int level) {
    auto* chain = make<ChainExpr>(kind_of_level(level), token_.line);
    chain->first = first;
    below(*chain, first);
    Operator op{};
    while (operator_level(op) == level) {
        advance();
        if (op == Operator::not_in) advance();
        chain->rest.emplace_back(op, parse_binary(level + 1));
        below(*chain, chain->rest.back().second);
    }
    return chain;
}

const Expr* Parser::parse_unary(bool with_filters) {
    const Expr* expr = nullptr;
    if (token_.is_symbol("-") || token_.is_symbol("+")) {
        const Nest nest(*this);
        const Token sign = advance();
        auto* unary = make<UnaryExpr>(sign.line);
        unary->op = sign.text == "-" ? Operator::negate : Operator::plus;
        unary->operand = parse_unary(false);
        below(*unary, unary->operand);
        expr = unary;
    } else {
        expr = parse_primary();
    }
    expr = parse_postfix(expr);
    return with_filters ? parse_filters_and_tests(expr) : expr;
}

const Expr* Parser::parse_primary() {
    switch (token_.kind) {
        case TokenKind::name:
            return parse_name();
        case TokenKind::string:
            return parse_string();
        case TokenKind::integer:
        case TokenKind::real:
            return parse_number();
        default:
            break;
    }
    if (token_.is_symbol("[")) return parse_list();
    if (token_.is_symbol("{")) return parse_dictionary();
    if (!skip_symbol("(")) fail_expected("an expression");
    const Expr* expr = parse_tuple(true, true);
    expect_symbol(")");
    return expr;
}

const Expr* Parser::parse_name() {
    const Token name = advance();
    if (name.text == "true" || name.text == "True")
        return make<ConstantExpr>(Value::boolean(true, Origin::trusted), name.line);
    if (name.text == "false" || name.text == "False")
        return make<ConstantExpr>(Value::boolean(false, Origin::trusted), name.line);
    if (name.text == "none" || name.text == "None")
        return make<ConstantExpr>(Value::none(), name.line);
    const Symbol symbol = intern(name.text);
    tree_->is_read[symbol] = true;
    if (macro_ != nullptr) {
        macro_->uses_caller |= symbol == tree_->caller;
        macro_->uses_varargs |= symbol == tree_->varargs;
        macro_->uses_kwargs |= symbol == tree_->kwargs;
    }
    return make<NameExpr>(symbol, name.line);
}

const Expr* Parser::parse_string() {
    const int line = token_.line;
    std::string text;
    try {
        while (token_.kind == TokenKind::string) text += unescape(advance().text);
    } catch (Failure& failure) {
        failure.line = line;
        throw;
    }
    return make<ConstantExpr>(Value::string(text, Origin::trusted), line);
}

const Expr* Parser::parse_number() {
    const Token number = advance();
    std::string digits;
    for (const char c : number.text)
        if (c != '_') digits.push_back(c);
    if (number.kind == TokenKind::real) {
        double real = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), real);
        if (read.ec != std::errc()) fail_at(number.line, "a number is out of range");
        return make<ConstantExpr>(Value::real(real, Origin::trusted), number.line);
    }
    int base = 10;
    std::size_t start = 0;
    if (digits.size() > 2 && digits[0] == '0') {
        const char mark = static_cast<char>(digits[1] | 0x20);
        base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
        if (base != 10) start = 2;
    }
    std::int64_t integer = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data() + start, end, integer, base);
    if (read.ec != std::errc() || read.ptr != end)
        fail_at(number.line, "the number " + digits.substr(0, 40) + " does not fit 64 bits");
    return make<ConstantExpr>(Value::integer(integer, Origin::trusted), number.line);
}

const Expr* Parser::parse_list() {
    auto* list = make<ListExpr>(advance().line);
    while (!token_.is_symbol("]")) {
        if (!list->items.empty()) expect_symbol(",");
        if (token_.is_symbol("]")) break;
        list->items.push_back(parse_expression());
        below(*list, list->items.back());
    }
    expect_symbol("]");
    return list;
}

const Expr* Parser::parse_dictionary() {
    auto* dictionary = make<DictionaryExpr>(advance().line);
    while (!token_.is_symbol("}")) {
        if (!dictionary->members.empty()) expect_symbol(",");
        if (token_.is_symbol("}")) break;
        const Expr* key = parse_expression();
        expect_symbol(":");
        const Expr* value = parse_expression();
        dictionary->members.emplace_back(key, value);
        below(*dictionary, key);
        below(*dictionary, value);
    }
    expect_symbol("}");
    return dictionary;
}

}  // namespace hearth::chat
