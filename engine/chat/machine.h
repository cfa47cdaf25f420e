// Renders a parsed template: scopes, expressions, statements. One machine per render; it owns
// everything that the template makes. Every public method may throw Failure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/arguments.h"
#include "engine/chat/budget.h"
#include "engine/chat/builder.h"
#include "engine/chat/node.h"
#include "engine/chat/objects.h"
#include "engine/chat/template.h"
#include "engine/chat/tree.h"

namespace hearth::chat {

// Names and values of a loop's body, a macro's call, …; its parent is the scope around it in the
// source.
struct Scope {
    Scope* parent = nullptr;
    std::vector<std::pair<Symbol, Value>> values;
    bool is_captured = false;  // something that may outlive it refers to it

    Value* find(Symbol symbol) {
        for (auto& [name, value] : values)
            if (name == symbol) return &value;
        return nullptr;
    }
};

class Machine {
public:
    Machine(const Tree& tree, const RenderOptions& options);
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    MarkedString run(const Value& variables);
    int line() const { return line_; }  // of what is being evaluated

    Budget& budget() { return budget_; }
    const LocalTime& now() const { return options_.now; }

    // New values, charged to the budget.
    Value string(MarkedString text);
    Value string(std::string_view text, bool trusted) {
        return string(MarkedString(text, trusted));
    }
    Value list(std::vector<Value> items, ListKind kind = ListKind::list);
    Value object(std::vector<Entry> entries);
    Value method(const Value& self, const Method& method);
    Value function(Value self, NamedFunction function);
    // Takes over a new object. It is cleared when the render ends, so that circles are freed.
    Value keep(OtherNode* object);

    // object.name and object[index] as Jinja2 looks them up, the sandbox included.
    Value attribute(const Value& object, const Value& name, const MethodSet& methods);
    Value attribute(const Value& object, std::string_view name);
    Value item(const Value& object, const Value& index);
    Value slice(const Value& object, const Value* start, const Value* stop, const Value* step);

    Value call(const Value& callee, const Arguments& arguments);
    Value call_method(const Value& self, const Method& method, const Arguments& arguments);
    Value call_macro(const MacroStatement& macro, Scope& closure, const Arguments& arguments);
    Value call_loop(const LoopStatement& loop, Scope& scope, const Value& items, int depth0);

private:
    enum class Flow : std::uint8_t { next, break_loop, continue_loop };
    class Inside;   // a scope, as long as it lives
    class Capture;  // output goes to a builder of its own, as long as it lives
    class CallDepth;

    // machine.cpp
    void bind_root(const Value& variables);
    const Value* find(Symbol symbol);
    Value lookup(Symbol symbol);
    void assign(Symbol symbol, Value value);
    void capture_scope();
    void write(const Value& value);
    void bind_parameters(const MacroStatement& macro, const Arguments& arguments);
    void bind_rest(const MacroStatement& macro, const Arguments& arguments,
                   std::vector<bool>& is_used);

    // evaluate.cpp
    Value evaluate(const Expr& expr);
    Value evaluate_kind(const Expr& expr);
    Value evaluate_attribute(const AttributeExpr& expr);
    Value evaluate_item(const ItemExpr& expr);
    Value evaluate_call(const CallExpr& expr);
    Value evaluate_filter(const FilterExpr& filter, const Value& input);
    Value evaluate_filters(const Expr& filters, const Value& input);
    Value evaluate_test(const FilterExpr& test);
    Value evaluate_unary(const UnaryExpr& unary);
    Value evaluate_arithmetic(const ChainExpr& chain);
    Value evaluate_compare(const ChainExpr& chain);
    Value evaluate_logic(const ChainExpr& chain);
    Value evaluate_concat(const ChainExpr& chain);
    Value evaluate_conditional(const ConditionalExpr& conditional);
    Value evaluate_list(const ListExpr& list_expr);
    Value evaluate_dictionary(const DictionaryExpr& dictionary);
    Arguments evaluate_arguments(const CallArguments& arguments);
    void spread_arguments(const CallArguments& from, Arguments& to);

    // execute.cpp
    Flow execute(const Body& body);
    Flow execute_statement(const Statement& statement);
    Flow execute_branch(const BranchStatement& branch);
    Flow execute_loop(const LoopStatement& loop, const Value& items, int depth0);
    bool execute_iterations(const LoopStatement& loop, const Value& object);
    Flow execute_assign(const AssignStatement& assign);
    Flow execute_assign_block(const AssignStatement& assign);
    Flow execute_filter_block(const FilterStatement& block);
    Flow execute_with(const WithStatement& with);
    void execute_macro(const MacroStatement& macro);
    void execute_call_block(const MacroStatement& block);
    Value select_items(const LoopStatement& loop, const Value& items);
    void assign_target(const Target& target, const Value& value);

    const Tree& tree_;
    const RenderOptions& options_;
    Budget budget_;
    int line_ = 0;
    int calls_ = 0;  // macros and recursive loops that are running

    Scope root_;                       // its values are in root_values_
    std::vector<Value> root_values_;   // by symbol
    std::vector<bool> is_root_bound_;  // by symbol
    Scope* scope_ = &root_;            // the innermost
    std::vector<std::unique_ptr<Scope>> spare_scopes_;
    std::vector<std::unique_ptr<Scope>> kept_scopes_;  // captured ones
    std::vector<Value> kept_objects_;
    Builder* out_ = nullptr;  // where output goes
};

}  // namespace hearth::chat
