// The expressions of a parsed template.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/methods.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;
struct Arguments;
// A filter or test: of `input`, with what stands in its parentheses.
using Function = Value (*)(Machine& machine, const Value& input, const Arguments& arguments);

enum class ExprKind : std::uint8_t {
    constant,
    name,
    attribute,
    item,
    slice,
    call,
    filter,
    test,
    unary,
    arithmetic,
    compare,
    logic,
    concat,
    conditional,
    list,
    dictionary,
};

enum class Operator : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    modulo,
    power,
    negate,
    plus,
    logical_not,
    logical_and,
    logical_or,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    not_in,
};

using Symbol = std::uint32_t;  // index into Tree::symbols

struct Part {
    virtual ~Part() = default;
};

struct Expr : Part {
    Expr(ExprKind expr_kind, int expr_line) : kind(expr_kind), line(expr_line) {}
    ExprKind kind;
    int line;
    int depth = 1;  // levels of expressions below and with this one
};

struct ConstantExpr : Expr {
    ConstantExpr(Value constant, int at)
        : Expr(ExprKind::constant, at), value(std::move(constant)) {}
    Value value;
};

struct NameExpr : Expr {
    NameExpr(Symbol name, int at) : Expr(ExprKind::name, at), symbol(name) {}
    Symbol symbol;
};

struct AttributeExpr : Expr {
    explicit AttributeExpr(int at) : Expr(ExprKind::attribute, at) {}
    const Expr* object = nullptr;
    Value name;
    MethodSet methods;  // what the name means on strings, lists and maps
};

struct ItemExpr : Expr {
    explicit ItemExpr(int at) : Expr(ExprKind::item, at) {}
    const Expr* object = nullptr;
    const Expr* index = nullptr;
};

struct SliceExpr : Expr {
    explicit SliceExpr(int at) : Expr(ExprKind::slice, at) {}
    const Expr* start = nullptr;  // null: left out
    const Expr* stop = nullptr;
    const Expr* step = nullptr;
};

struct CallArguments {
    std::vector<const Expr*> positional;
    std::vector<std::pair<std::string, const Expr*>> named;
    const Expr* more_positional = nullptr;  // *expression
    const Expr* more_named = nullptr;       // **expression
};

struct CallExpr : Expr {
    explicit CallExpr(int at) : Expr(ExprKind::call, at) {}
    const Expr* callee = nullptr;
    CallArguments arguments;
};

struct FilterExpr : Expr {
    FilterExpr(ExprKind which, int at) : Expr(which, at) {}  // filter or test
    const Expr* input = nullptr;                             // null: the body of a block
    std::string name;
    Function function = nullptr;  // null: unknown, an error when it is reached
    CallArguments arguments;
};

struct UnaryExpr : Expr {
    explicit UnaryExpr(int at) : Expr(ExprKind::unary, at) {}
    Operator op = Operator::negate;
    const Expr* operand = nullptr;
};

// first op operand op operand …, from left to right; operators of one level only.
struct ChainExpr : Expr {
    ChainExpr(ExprKind which, int at) : Expr(which, at) {}  // arithmetic, compare, logic, concat
    const Expr* first = nullptr;
    std::vector<std::pair<Operator, const Expr*>> rest;
};

struct ConditionalExpr : Expr {
    explicit ConditionalExpr(int at) : Expr(ExprKind::conditional, at) {}
    const Expr* test = nullptr;
    const Expr* yes = nullptr;
    const Expr* no = nullptr;  // null: undefined
};

struct ListExpr : Expr {
    explicit ListExpr(int at) : Expr(ExprKind::list, at) {}
    std::vector<const Expr*> items;
    bool is_tuple = false;
};

struct DictionaryExpr : Expr {
    explicit DictionaryExpr(int at) : Expr(ExprKind::dictionary, at) {}
    std::vector<std::pair<const Expr*, const Expr*>> members;
};

}  // namespace hearth::chat
