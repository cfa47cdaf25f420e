// Expressions; see machine.h.
#include <algorithm>

#include "engine/chat/machine.h"
#include "engine/chat/machine_scopes.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

Value from_bool(bool flag) { return Value::boolean(flag, Origin::trusted); }

}  // namespace

// On a failure line_ stays where it happened.
Value Machine::evaluate(const Expr& expr) {
    budget_.step();
    if (expr.kind == ExprKind::constant) return static_cast<const ConstantExpr&>(expr).value;
    if (expr.kind == ExprKind::name) return lookup(static_cast<const NameExpr&>(expr).symbol);
    budget_.check_stack();
    const int before = std::exchange(line_, expr.line);
    Value value = evaluate_kind(expr);
    line_ = before;
    return value;
}

Value Machine::evaluate_kind(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::attribute:
            return evaluate_attribute(static_cast<const AttributeExpr&>(expr));
        case ExprKind::item:
            return evaluate_item(static_cast<const ItemExpr&>(expr));
        case ExprKind::call:
            return evaluate_call(static_cast<const CallExpr&>(expr));
        case ExprKind::filter: {
            const auto& filter = static_cast<const FilterExpr&>(expr);
            return evaluate_filter(filter, evaluate(*filter.input));
        }
        case ExprKind::test:
            return evaluate_test(static_cast<const FilterExpr&>(expr));
        case ExprKind::unary:
            return evaluate_unary(static_cast<const UnaryExpr&>(expr));
        case ExprKind::arithmetic:
            return evaluate_arithmetic(static_cast<const ChainExpr&>(expr));
        case ExprKind::compare:
            return evaluate_compare(static_cast<const ChainExpr&>(expr));
        case ExprKind::logic:
            return evaluate_logic(static_cast<const ChainExpr&>(expr));
        case ExprKind::concat:
            return evaluate_concat(static_cast<const ChainExpr&>(expr));
        case ExprKind::conditional:
            return evaluate_conditional(static_cast<const ConditionalExpr&>(expr));
        case ExprKind::list:
            return evaluate_list(static_cast<const ListExpr&>(expr));
        case ExprKind::dictionary:
            return evaluate_dictionary(static_cast<const DictionaryExpr&>(expr));
        case ExprKind::slice:
            fail("a slice stands outside of a subscript");
        case ExprKind::constant:
        case ExprKind::name:
            break;
    }
    return {};
}

Value Machine::evaluate_attribute(const AttributeExpr& expr) {
    if (expr.object->kind == ExprKind::name) {
        // Spares a copy in the most frequent case.
        const Symbol symbol = static_cast<const NameExpr*>(expr.object)->symbol;
        if (const Value* object = find(symbol)) return attribute(*object, expr.name, expr.methods);
    }
    return attribute(evaluate(*expr.object), expr.name, expr.methods);
}

Value Machine::evaluate_item(const ItemExpr& expr) {
    const Value object = evaluate(*expr.object);
    if (expr.index->kind != ExprKind::slice) return item(object, evaluate(*expr.index));
    const auto& bounds = static_cast<const SliceExpr&>(*expr.index);
    Value start;
    Value stop;
    Value step;
    if (bounds.start != nullptr) start = evaluate(*bounds.start);
    if (bounds.stop != nullptr) stop = evaluate(*bounds.stop);
    if (bounds.step != nullptr) step = evaluate(*bounds.step);
    return slice(object, bounds.start != nullptr ? &start : nullptr,
                 bounds.stop != nullptr ? &stop : nullptr,
                 bounds.step != nullptr ? &step : nullptr);
}

void Machine::spread_arguments(const CallArguments& from, Arguments& to) {
    if (from.more_positional != nullptr) {
        const Items items(*this, evaluate(*from.more_positional));
        budget_.items(items.size());
        budget_.memory().need(items.size() * sizeof(Value));
        to.positional.insert(to.positional.end(), items.begin(), items.end());
    }
    if (from.more_named == nullptr) return;
    const Value more = evaluate(*from.more_named);
    demand_defined(more);
    if (more.kind() != Kind::object) fail("argument after ** must be a mapping");
    // Named arguments are searched one by one.
    constexpr std::size_t kMost = 255;
    if (more.size() > kMost) fail("too many keyword arguments");
    for (const Entry& entry : ValueAccess::object(more).entries()) {
        if (entry.key.kind() != Kind::string) fail("keywords must be strings");
        const std::string name(entry.key.as_string());
        for (const auto& [other, value] : to.named)
            if (other == name) fail("got multiple values for keyword argument '" + name + "'");
        to.named.emplace_back(name, entry.value);
    }
}

Arguments Machine::evaluate_arguments(const CallArguments& arguments) {
    Arguments values;
    values.positional.reserve(arguments.positional.size());
    for (const Expr* expr : arguments.positional) values.positional.push_back(evaluate(*expr));
    for (const auto& [name, expr] : arguments.named)
        values.named.emplace_back(name, evaluate(*expr));
    if (arguments.more_positional != nullptr || arguments.more_named != nullptr)
        spread_arguments(arguments, values);
    return values;
}

Value Machine::evaluate_call(const CallExpr& expr) {
    if (expr.callee->kind == ExprKind::attribute) {
        // A method of a string, list or map needs no object of its own.
        const auto& member = static_cast<const AttributeExpr&>(*expr.callee);
        const Value object = evaluate(*member.object);
        const Method* found = method_of(object, member.methods);
        if (found != nullptr && found->function != nullptr)
            return call_method(object, *found, evaluate_arguments(expr.arguments));
        const Value callee = attribute(object, member.name, member.methods);
        return call(callee, evaluate_arguments(expr.arguments));
    }
    const Value callee = evaluate(*expr.callee);
    return call(callee, evaluate_arguments(expr.arguments));
}

Value Machine::evaluate_filter(const FilterExpr& filter, const Value& input) {
    if (filter.function == nullptr) fail("no filter named '" + filter.name + "'");
    return filter.function(*this, input, evaluate_arguments(filter.arguments));
}

// Filters that stand in a tag and work on the body of its block.
Value Machine::evaluate_filters(const Expr& filters, const Value& input) {
    budget_.check_stack();
    const auto& filter = static_cast<const FilterExpr&>(filters);
    if (filter.input == nullptr) return evaluate_filter(filter, input);
    return evaluate_filter(filter, evaluate_filters(*filter.input, input));
}

Value Machine::evaluate_test(const FilterExpr& test) {
    const Value input = evaluate(*test.input);
    if (test.function == nullptr) fail("no test named '" + test.name + "'");
    return test.function(*this, input, evaluate_arguments(test.arguments));
}

Value Machine::evaluate_unary(const UnaryExpr& unary) {
    const Value operand = evaluate(*unary.operand);
    if (unary.op == Operator::logical_not) return from_bool(!truth(operand));
    if (unary.op == Operator::negate) return chat::negate(operand);
    return chat::negate(chat::negate(operand));
}

Value Machine::evaluate_arithmetic(const ChainExpr& chain) {
    Value result = evaluate(*chain.first);
    for (const auto& [op, expr] : chain.rest) {
        budget_.step();
        result = arithmetic(*this, op, result, evaluate(*expr));
    }
    return result;
}

Value Machine::evaluate_compare(const ChainExpr& chain) {
    Value left = evaluate(*chain.first);
    for (const auto& [op, expr] : chain.rest) {
        Value right = evaluate(*expr);
        if (!compare(*this, op, left, right)) return from_bool(false);
        left = std::move(right);
    }
    return from_bool(true);
}

Value Machine::evaluate_logic(const ChainExpr& chain) {
    Value result = evaluate(*chain.first);
    for (const auto& [op, expr] : chain.rest) {
        // One level holds one operator: `or` stops at the first true operand, `and` at the first
        // false one.
        if (truth(result) == (op == Operator::logical_or)) return result;
        result = evaluate(*expr);
    }
    return result;
}

Value Machine::evaluate_concat(const ChainExpr& chain) {
    Builder out(budget_);
    print(*this, evaluate(*chain.first), out);
    for (const auto& [op, expr] : chain.rest) print(*this, evaluate(*expr), out);
    return string(out.take());
}

Value Machine::evaluate_conditional(const ConditionalExpr& conditional) {
    if (truth(evaluate(*conditional.test))) return evaluate(*conditional.yes);
    if (conditional.no != nullptr) return evaluate(*conditional.no);
    return ValueAccess::undefined(
        Missing::hint, string("the inline if-expression evaluated to false and has no else", true));
}

Value Machine::evaluate_list(const ListExpr& list_expr) {
    std::vector<Value> items;
    items.reserve(list_expr.items.size());
    for (const Expr* expr : list_expr.items) items.push_back(evaluate(*expr));
    return list(std::move(items), list_expr.is_tuple ? ListKind::tuple : ListKind::list);
}

Value Machine::evaluate_dictionary(const DictionaryExpr& dictionary) {
    std::vector<Entry> entries;
    entries.reserve(dictionary.members.size());
    for (const auto& [key, value] : dictionary.members) {
        Value name = evaluate(*key);
        entries.push_back({std::move(name), evaluate(*value)});
    }
    return object(std::move(entries));
}

}  // namespace hearth::chat
