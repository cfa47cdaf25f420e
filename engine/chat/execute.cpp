// Statements; see machine.h.
#include <algorithm>

#include "engine/chat/machine.h"
#include "engine/chat/machine_scopes.h"
#include "engine/chat/operators.h"

namespace hearth::chat {
namespace {

// Sees to it that a loop object that something still refers to is cleared when the render ends.
class LoopKeeper {
public:
    LoopKeeper(Value object, std::vector<Value>& kept) : object_(std::move(object)), kept_(kept) {}
    ~LoopKeeper() {
        if (ValueAccess::node(object_)->is_shared()) kept_.push_back(std::move(object_));
    }
    LoopKeeper(const LoopKeeper&) = delete;
    LoopKeeper& operator=(const LoopKeeper&) = delete;

    const Value& object() const { return object_; }

private:
    Value object_;
    std::vector<Value>& kept_;
};

}  // namespace

Machine::Flow Machine::execute(const Body& body) {
    budget_.check_stack();
    for (const Statement* statement : body) {
        budget_.step();
        line_ = statement->line;
        if (const Flow flow = execute_statement(*statement); flow != Flow::next) return flow;
    }
    return Flow::next;
}

Machine::Flow Machine::execute_statement(const Statement& statement) {
    switch (statement.kind) {
        case StatementKind::output:
            write(evaluate(*static_cast<const OutputStatement&>(statement).value));
            return Flow::next;
        case StatementKind::branch:
            return execute_branch(static_cast<const BranchStatement&>(statement));
        case StatementKind::loop: {
            const auto& loop = static_cast<const LoopStatement&>(statement);
            return execute_loop(loop, evaluate(*loop.items), 0);
        }
        case StatementKind::assign:
            return execute_assign(static_cast<const AssignStatement&>(statement));
        case StatementKind::assign_block:
            return execute_assign_block(static_cast<const AssignStatement&>(statement));
        case StatementKind::macro:
            execute_macro(static_cast<const MacroStatement&>(statement));
            return Flow::next;
        case StatementKind::call_block:
            execute_call_block(static_cast<const MacroStatement&>(statement));
            return Flow::next;
        case StatementKind::filter_block:
            return execute_filter_block(static_cast<const FilterStatement&>(statement));
        case StatementKind::with:
            return execute_with(static_cast<const WithStatement&>(statement));
        case StatementKind::break_loop:
            return Flow::break_loop;
        case StatementKind::continue_loop:
            break;
    }
    return Flow::continue_loop;
}

Machine::Flow Machine::execute_branch(const BranchStatement& branch) {
    for (const auto& [test, body] : branch.branches)
        if (truth(evaluate(*test))) return execute(body);
    return execute(branch.otherwise);
}

// The items for which the condition of `for … if` holds.
Value Machine::select_items(const LoopStatement& loop, const Value& items) {
    const Items candidates(*this, items);
    std::vector<Value> selected;
    for (const Value& item : candidates) {
        const Inside scope(*this);
        assign_target(loop.target, item);
        if (!truth(evaluate(*loop.condition))) continue;
        budget_.memory().need((selected.size() + 1) * sizeof(Value));
        selected.push_back(item);
    }
    return list(std::move(selected), ListKind::generator);
}

Machine::Flow Machine::execute_loop(const LoopStatement& loop, const Value& items, int depth0) {
    const Value chosen = loop.condition != nullptr ? select_items(loop, items) : items;
    if (loop.is_recursive) capture_scope();
    const LoopObject::Setup setup{loop, *scope_, depth0};
    LoopKeeper keeper(ValueAccess::adopt(Kind::other, new LoopObject(setup, Items(*this, chosen),
                                                                     budget_.memory())),
                      kept_objects_);
    // As in Jinja2, {% else %} runs when no pass came to the end of the body.
    if (execute_iterations(loop, keeper.object()) || loop.otherwise.empty()) return Flow::next;
    const Inside scope(*this);
    return execute(loop.otherwise);
}

// Whether one pass came to the end of the body.
bool Machine::execute_iterations(const LoopStatement& loop, const Value& object) {
    auto& state = static_cast<LoopObject&>(other(object));
    bool has_completed = false;
    while (state.advance()) {
        budget_.step();
        const Inside scope(*this);
        assign(tree_.loop, object);
        assign_target(loop.target, state.current());
        const Flow flow = execute(loop.body);
        if (flow == Flow::break_loop) break;
        has_completed |= flow == Flow::next;
    }
    return has_completed;
}

void Machine::assign_target(const Target& target, const Value& value) {
    if (target.is_tuple) {
        const Items items(*this, value);
        if (items.size() != target.parts.size())
            fail("cannot unpack " + std::to_string(items.size()) + " values into " +
                 std::to_string(target.parts.size()) + " names");
        for (std::size_t i = 0; i < items.size(); ++i) assign_target(target.parts[i], items[i]);
        return;
    }
    if (target.member.kind() != Kind::string) {
        assign(target.symbol, value);
        return;
    }
    const Value object = lookup(target.symbol);
    if (object.kind() != Kind::other || other(object).type() != "Namespace")
        fail("cannot assign attribute on non-namespace object");
    static_cast<NamespaceObject&>(other(object)).set(target.member, value);
}

Machine::Flow Machine::execute_assign(const AssignStatement& assign_statement) {
    assign_target(assign_statement.target, evaluate(*assign_statement.value));
    return Flow::next;
}

Machine::Flow Machine::execute_assign_block(const AssignStatement& block) {
    Value text;
    {
        Capture capture(*this);
        const Inside scope(*this);
        if (const Flow flow = execute(block.body); flow != Flow::next) return flow;
        text = capture.take();
        if (block.value != nullptr) text = evaluate_filters(*block.value, text);
    }
    assign_target(block.target, text);
    return Flow::next;
}

Machine::Flow Machine::execute_filter_block(const FilterStatement& block) {
    Value text;
    {
        Capture capture(*this);
        const Inside scope(*this);
        if (const Flow flow = execute(block.body); flow != Flow::next) return flow;
        text = evaluate_filters(*block.filters, capture.take());
    }
    write(text);
    return Flow::next;
}

Machine::Flow Machine::execute_with(const WithStatement& with) {
    std::vector<Value> values;
    values.reserve(with.assignments.size());
    for (const auto& [target, expr] : with.assignments) values.push_back(evaluate(*expr));
    const Inside scope(*this);
    for (std::size_t i = 0; i < values.size(); ++i)
        assign_target(with.assignments[i].first, values[i]);
    return execute(with.body);
}

void Machine::execute_macro(const MacroStatement& macro) {
    capture_scope();
    assign(macro.symbol,
           ValueAccess::adopt(Kind::other, new MacroObject(macro, *scope_, budget_.memory())));
}

void Machine::execute_call_block(const MacroStatement& block) {
    if (block.call == nullptr) {
        const Inside scope(*this);
        execute(block.body);
        return;
    }
    capture_scope();
    const Value caller =
        ValueAccess::adopt(Kind::other, new MacroObject(block, *scope_, budget_.memory()));
    const Value callee = evaluate(*block.call->callee);
    Arguments arguments = evaluate_arguments(block.call->arguments);
    arguments.named.emplace_back("caller", caller);
    write(call(callee, arguments));
}

}  // namespace hearth::chat
