// Setting up a render, names and scopes, new values, calls; see machine.h.
#include "engine/chat/machine.h"

#include <algorithm>

#include "engine/chat/functions.h"
#include "engine/chat/machine_scopes.h"
#include "engine/chat/markup.h"
#include "engine/chat/print.h"

namespace hearth::chat {

Machine::Machine(const Tree& tree, const RenderOptions& options)
    : tree_(tree),
      options_(options),
      budget_(options.limits),
      root_values_(tree.symbols.size()),
      is_root_bound_(tree.symbols.size(), false) {
    root_.is_captured = true;
}

Machine::~Machine() {
    // Everything that can be part of a circle lets go before the last references do.
    for (const Value& object : kept_objects_) other(object).clear();
    for (const auto& scope : kept_scopes_) scope->values.clear();
    root_values_.clear();
}

MarkedString Machine::run(const Value& variables) {
    budget_.check_depth(ValueAccess::depth(variables) - 1);
    bind_root(variables);
    Builder out(budget_);
    out_ = &out;
    execute(tree_.body);
    return out.take();
}

void Machine::bind_root(const Value& variables) {
    for (std::size_t symbol = 0; symbol < tree_.symbols.size(); ++symbol) {
        if (!tree_.is_read[symbol]) continue;
        if (const Value* given = variables.find(tree_.symbols[symbol])) {
            root_values_[symbol] = *given;
        } else if (const NamedFunction* global = find_global(tree_.symbols[symbol])) {
            root_values_[symbol] = function(Value(), *global);
        } else {
            continue;
        }
        is_root_bound_[symbol] = true;
    }
}

// Null when nothing has the name.
const Value* Machine::find(Symbol symbol) {
    for (Scope* scope = scope_; scope != &root_; scope = scope->parent)
        if (const Value* value = scope->find(symbol)) return value;
    return is_root_bound_[symbol] ? &root_values_[symbol] : nullptr;
}

Value Machine::lookup(Symbol symbol) {
    if (const Value* value = find(symbol)) return *value;
    return ValueAccess::undefined(Missing::name,
                                  Value::string(tree_.symbols[symbol], Origin::trusted));
}

void Machine::assign(Symbol symbol, Value value) {
    if (scope_ == &root_) {
        root_values_[symbol] = std::move(value);
        is_root_bound_[symbol] = true;
        return;
    }
    if (Value* old = scope_->find(symbol)) {
        *old = std::move(value);
    } else {
        scope_->values.emplace_back(symbol, std::move(value));
    }
}

// Something may refer to the current scope after its end: it and those around it stay until the
// render ends.
void Machine::capture_scope() {
    for (Scope* scope = scope_; !scope->is_captured; scope = scope->parent) {
        scope->is_captured = true;
        budget_.memory().charge(sizeof(Scope) + 4 * sizeof(scope->values[0]));
    }
}

void Machine::write(const Value& value) {
    print(*this, value, *out_);
    if (out_->size() > budget_.limits().output_bytes)
        throw Failure{
            ErrorCode::budget_exceeded,
            "it writes more than " + std::to_string(budget_.limits().output_bytes) + " bytes"};
}

Value Machine::string(MarkedString text) {
    return ValueAccess::adopt(Kind::string, new StringNode(std::move(text), &budget_.memory()));
}

Value Machine::list(std::vector<Value> items, ListKind kind) {
    Value value =
        ValueAccess::adopt(Kind::list, new ListNode(std::move(items), kind, &budget_.memory()));
    budget_.check_depth(ValueAccess::depth(value));
    return value;
}

Value Machine::object(std::vector<Entry> entries) {
    budget_.items(entries.size());
    for (const Entry& entry : entries)
        if (!is_hashable(entry.key)) fail("unhashable type: '" + type_name(entry.key) + "'");
    Value value =
        ValueAccess::adopt(Kind::object, new ObjectNode(std::move(entries), &budget_.memory()));
    budget_.check_depth(ValueAccess::depth(value));
    return value;
}

Value Machine::method(const Value& self, const Method& method) {
    Value value = ValueAccess::adopt(Kind::other, new BoundMethod(self, method, budget_.memory()));
    budget_.check_depth(ValueAccess::depth(value));
    return value;
}

Value Machine::function(Value self, NamedFunction function) {
    Value value = ValueAccess::adopt(
        Kind::other, new BoundFunction(std::move(self), function, budget_.memory()));
    budget_.check_depth(ValueAccess::depth(value));
    return value;
}

Value Machine::keep(OtherNode* object) {
    Value value = ValueAccess::adopt(Kind::other, object);
    budget_.memory().need(2 * sizeof(Value));
    kept_objects_.push_back(value);
    return value;
}

Value Machine::call(const Value& callee, const Arguments& arguments) {
    demand_defined(callee);
    if (callee.kind() != Kind::other) fail("'" + type_name(callee) + "' object is not callable");
    return other(callee).call(*this, arguments);
}

Value Machine::call_method(const Value& self, const Method& method, const Arguments& arguments) {
    if (ValueAccess::is_markup(self)) return call_markup_method(*this, self, method, arguments);
    return method.function(*this, self, arguments);
}

// Positional arguments beyond the parameters, named ones that are no parameter, and the caller.
void Machine::bind_rest(const MacroStatement& macro, const Arguments& arguments,
                        std::vector<bool>& is_used) {
    const bool has_caller_parameter = std::any_of(
        macro.parameters.begin(), macro.parameters.end(),
        [this](const Parameter& parameter) { return parameter.symbol == tree_.caller; });
    if (macro.uses_caller && !has_caller_parameter) {
        Value caller = ValueAccess::undefined(Missing::hint, string("No caller defined", true));
        for (std::size_t i = 0; i < arguments.named.size(); ++i) {
            if (arguments.named[i].first != "caller") continue;
            is_used[i] = true;
            caller = arguments.named[i].second;
        }
        assign(tree_.caller, std::move(caller));
    }
    std::vector<Entry> rest;
    for (std::size_t i = 0; i < arguments.named.size(); ++i) {
        const auto& [name, value] = arguments.named[i];
        if (is_used[i]) continue;
        if (!macro.uses_kwargs)
            fail("macro '" + macro.name + "' takes no keyword argument '" + name + "'");
        rest.push_back({string(name, true), value});
    }
    if (macro.uses_kwargs) assign(tree_.kwargs, object(std::move(rest)));
    const std::size_t taken = std::min(arguments.positional.size(), macro.parameters.size());
    if (arguments.positional.size() > taken && !macro.uses_varargs)
        fail("macro '" + macro.name + "' takes not more than " +
             std::to_string(macro.parameters.size()) + " argument(s)");
    if (!macro.uses_varargs) return;
    const auto first = arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken);
    assign(tree_.varargs,
           list(std::vector<Value>(first, arguments.positional.end()), ListKind::tuple));
}

// In the macro's own scope, which is the current one.
void Machine::bind_parameters(const MacroStatement& macro, const Arguments& arguments) {
    std::vector<bool> is_used(arguments.named.size(), false);
    std::vector<const Parameter*> missing;
    for (std::size_t at = 0; at < macro.parameters.size(); ++at) {
        const Parameter& parameter = macro.parameters[at];
        if (at < arguments.positional.size()) {
            assign(parameter.symbol, arguments.positional[at]);
            continue;
        }
        bool is_found = false;
        for (std::size_t i = 0; i < arguments.named.size() && !is_found; ++i) {
            if (arguments.named[i].first != parameter.name) continue;
            is_found = is_used[i] = true;
            assign(parameter.symbol, arguments.named[i].second);
        }
        if (!is_found) missing.push_back(&parameter);
    }
    bind_rest(macro, arguments, is_used);
    for (const Parameter* parameter : missing) {
        if (parameter->fallback != nullptr) {
            assign(parameter->symbol, evaluate(*parameter->fallback));
        } else {
            const std::string text = "parameter '" + parameter->name + "' was not provided";
            assign(parameter->symbol, ValueAccess::undefined(Missing::hint, string(text, true)));
        }
    }
}

Value Machine::call_macro(const MacroStatement& macro, Scope& closure, const Arguments& arguments) {
    const CallDepth depth(*this);
    const Inside scope(*this, closure);
    bind_parameters(macro, arguments);
    Capture capture(*this);
    execute(macro.body);
    return capture.take();
}

Value Machine::call_loop(const LoopStatement& loop, Scope& scope, const Value& items, int depth0) {
    const CallDepth depth(*this);
    Scope* const before = std::exchange(scope_, &scope);
    Capture capture(*this);
    execute_loop(loop, items, depth0);
    scope_ = before;
    return capture.take();
}

}  // namespace hearth::chat
