// The parsed template: expressions and statements. The tree owns its nodes in one flat list, so
// that a deep template is freed without recursion; nodes point to each other and never change after
// parsing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
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

enum class StatementKind : std::uint8_t {
    output,
    branch,
    loop,
    assign,
    assign_block,
    macro,
    call_block,
    filter_block,
    with,
    break_loop,
    continue_loop,
};

struct Statement : Part {
    Statement(StatementKind statement_kind, int at) : kind(statement_kind), line(at) {}
    StatementKind kind;
    int line;
};

using Body = std::vector<const Statement*>;

struct OutputStatement : Statement {
    explicit OutputStatement(int at) : Statement(StatementKind::output, at) {}
    const Expr* value = nullptr;
};

struct BranchStatement : Statement {
    explicit BranchStatement(int at) : Statement(StatementKind::branch, at) {}
    std::vector<std::pair<const Expr*, Body>> branches;
    Body otherwise;
};

// What is assigned to: a name, a member of a namespace, or a tuple of targets.
struct Target {
    Symbol symbol = 0;
    Value member;  // a string for ns.member
    bool is_tuple = false;
    std::vector<Target> parts;
};

struct LoopStatement : Statement {
    explicit LoopStatement(int at) : Statement(StatementKind::loop, at) {}
    Target target;
    const Expr* items = nullptr;
    const Expr* condition = nullptr;  // null: none
    bool is_recursive = false;
    Body body;
    Body otherwise;
};

struct AssignStatement : Statement {
    explicit AssignStatement(StatementKind which, int at) : Statement(which, at) {}
    Target target;
    const Expr* value = nullptr;  // assign_block: the filters on the body, or null
    Body body;                    // assign_block
};

struct Parameter {
    Symbol symbol;
    std::string name;
    const Expr* fallback = nullptr;  // null: undefined when not given
};

struct MacroStatement : Statement {
    MacroStatement(StatementKind which, int at) : Statement(which, at) {}  // macro or call_block
    Symbol symbol = 0;
    std::string name;
    std::vector<Parameter> parameters;
    bool uses_caller = false;
    bool uses_varargs = false;
    bool uses_kwargs = false;
    Body body;
    const CallExpr* call =
        nullptr;  // call_block: what the body is handed to; null: {% generation %}
};

struct FilterStatement : Statement {
    explicit FilterStatement(int at) : Statement(StatementKind::filter_block, at) {}
    const Expr* filters = nullptr;
    Body body;
};

struct WithStatement : Statement {
    explicit WithStatement(int at) : Statement(StatementKind::with, at) {}
    std::vector<std::pair<Target, const Expr*>> assignments;
    Body body;
};

struct Tree {
    Body body;
    std::vector<std::string> symbols;
    std::vector<bool> is_read;  // per symbol: whether an expression reads it
    Symbol loop = 0;
    Symbol caller = 0;
    Symbol varargs = 0;
    Symbol kwargs = 0;
    std::vector<std::unique_ptr<Part>> parts;  // owns every node
};

}  // namespace hearth::chat
