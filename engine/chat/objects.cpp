// Macros, loops, namespaces and the like; see objects.h.
#include "engine/chat/objects.h"

#include "engine/chat/arguments.h"
#include "engine/chat/machine.h"

namespace hearth::chat {
namespace {

LoopObject& loop_of(const Value& self) { return static_cast<LoopObject&>(other(self)); }
CyclerObject& cycler_of(const Value& self) { return static_cast<CyclerObject&>(other(self)); }

Value loop_cycle(Machine&, const Value& self, const Arguments& arguments) {
    if (arguments.positional.empty()) fail("no items for cycling given");
    return arguments.positional[loop_of(self).index0() % arguments.positional.size()];
}

Value loop_changed(Machine& machine, const Value& self, const Arguments& arguments) {
    const Value asked = machine.list(arguments.positional, ListKind::tuple);
    return Value::boolean(loop_of(self).changed(machine, asked), Origin::trusted);
}

Value cycler_next(Machine&, const Value& self, const Arguments&) { return cycler_of(self).next(); }

Value cycler_reset(Machine&, const Value& self, const Arguments&) {
    cycler_of(self).reset();
    return Value::none();
}

// The object as a Value that shares its ownership.
Value share(OtherNode& object) {
    object.retain();
    return ValueAccess::adopt(Kind::other, &object);
}

Value hint(std::string_view text) {
    return ValueAccess::undefined(Missing::hint, Value::string(text, Origin::trusted));
}

}  // namespace

bool OtherNode::attribute(Machine&, std::string_view, Value&) { return false; }

Value OtherNode::call(Machine&, const Arguments&) {
    fail("'" + type() + "' object is not callable");
}

bool MacroObject::attribute(Machine& machine, std::string_view name, Value& out) {
    if (name == "name") {
        out = machine.string(macro_.name, true);
    } else if (name == "arguments") {
        std::vector<Value> names;
        for (const Parameter& parameter : macro_.parameters)
            names.push_back(machine.string(parameter.name, true));
        out = machine.list(std::move(names), ListKind::tuple);
    } else if (name == "caller") {
        out = Value::boolean(macro_.uses_caller, Origin::trusted);
    } else if (name == "catch_kwargs") {
        out = Value::boolean(macro_.uses_kwargs, Origin::trusted);
    } else if (name == "catch_varargs") {
        out = Value::boolean(macro_.uses_varargs, Origin::trusted);
    } else {
        return false;
    }
    return true;
}

Value MacroObject::call(Machine& machine, const Arguments& arguments) {
    return machine.call_macro(macro_, closure_, arguments);
}

std::string BoundMethod::repr() const {
    return "<built-in method " + std::string(method_.name) + " of " + type_name(self_) + " object>";
}

Value BoundMethod::call(Machine& machine, const Arguments& arguments) {
    return machine.call_method(self_, method_, arguments);
}

Value BoundFunction::call(Machine& machine, const Arguments& arguments) {
    return function_.function(machine, self_, arguments);
}

bool NamespaceObject::attribute(Machine& machine, std::string_view name, Value& out) {
    machine.budget().items(members_.size());
    for (const auto& [key, value] : members_) {
        if (key.as_string() != name) continue;
        out = value;
        return true;
    }
    return false;
}

void NamespaceObject::set(const Value& name, Value value) {
    for (auto& [key, old] : members_) {
        if (key.as_string() != name.as_string()) continue;
        old = std::move(value);
        return;
    }
    charge(&account_, 2 * sizeof(members_[0]));
    members_.emplace_back(name, std::move(value));
}

LoopObject::LoopObject(const Setup& setup, Items items, MemoryAccount& account)
    : statement_(setup.statement),
      scope_(setup.scope),
      depth0_(setup.depth0),
      items_(std::move(items)) {
    charge(&account, sizeof(LoopObject) + items_.own_bytes());
}

std::string LoopObject::repr() const {
    return "<LoopContext " + std::to_string(next_) + "/" + std::to_string(size()) + ">";
}

Value LoopObject::number(std::size_t value) const {
    return Value::integer(static_cast<std::int64_t>(value), Origin::trusted);
}

bool LoopObject::attribute(Machine& machine, std::string_view name, Value& out) {
    const std::size_t at = index0();
    const bool is_last = next_ >= size();
    if (name == "index") return out = number(next_), true;
    if (name == "index0") return out = number(at), true;
    if (name == "first") return out = Value::boolean(at == 0, Origin::trusted), true;
    if (name == "last") return out = Value::boolean(is_last, Origin::trusted), true;
    if (name == "length") return out = number(size()), true;
    if (name == "revindex") return out = number(size() - at), true;
    if (name == "revindex0") return out = number(size() - next_), true;
    if (name == "depth") return out = number(static_cast<std::size_t>(depth0_) + 1), true;
    if (name == "depth0") return out = number(static_cast<std::size_t>(depth0_)), true;
    if (name == "previtem")
        return out = at == 0 ? hint("there is no previous item") : items_[at - 1], true;
    if (name == "nextitem")
        return out = is_last ? hint("there is no next item") : items_[next_], true;
    if (name == "cycle") {
        out = machine.function(share(*this), {"cycle", loop_cycle});
        return true;
    }
    if (name == "changed") {
        out = machine.function(share(*this), {"changed", loop_changed});
        return true;
    }
    return false;
}

Value LoopObject::call(Machine& machine, const Arguments& arguments) {
    if (!statement_.is_recursive)
        fail("the loop must have the 'recursive' marker to be called recursively");
    const Bound bound("loop", arguments, {"iterable"}, 1);
    return machine.call_loop(statement_, scope_, bound[0], depth0_ + 1);
}

void LoopObject::clear() {
    items_ = Items();
    next_ = 0;
    last_asked_ = Value();
}

bool LoopObject::changed(Machine& machine, const Value& value) {
    const bool is_same = was_asked_ && equal(machine, last_asked_, value);
    was_asked_ = true;
    last_asked_ = value;
    return !is_same;
}

CyclerObject::CyclerObject(std::vector<Value> items, MemoryAccount& account)
    : items_(std::move(items)) {
    charge(&account, sizeof(CyclerObject) + items_.capacity() * sizeof(Value));
}

Value CyclerObject::next() {
    const Value value = items_[at_];
    at_ = (at_ + 1) % items_.size();
    return value;
}

bool CyclerObject::attribute(Machine& machine, std::string_view name, Value& out) {
    if (name == "current") {
        out = items_[at_];
    } else if (name == "next") {
        out = machine.function(share(*this), {"next", cycler_next});
    } else if (name == "reset") {
        out = machine.function(share(*this), {"reset", cycler_reset});
    } else {
        return false;
    }
    return true;
}

JoinerObject::JoinerObject(Value separator, MemoryAccount& account)
    : separator_(std::move(separator)) {
    charge(&account, sizeof(JoinerObject));
}

Value JoinerObject::call(Machine& machine, const Arguments&) {
    if (std::exchange(used_, true)) return separator_;
    return machine.string("", true);
}

}  // namespace hearth::chat
