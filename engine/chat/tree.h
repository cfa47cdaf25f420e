// The statements of a parsed template, and the tree that owns all its nodes in one flat list, so
// that a deep template is freed without recursion; nodes point to each other and never change after
// parsing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/expression.h"

namespace hearth::chat {

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
