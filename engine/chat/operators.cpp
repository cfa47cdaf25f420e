// Types, truth, equality, order, membership, walking; arithmetic is in arithmetic.cpp. See
// operators.h.
#include "engine/chat/operators.h"

#include <algorithm>
#include <string>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"

namespace hearth::chat {
namespace {

bool equal_lists(Machine& machine, const ListNode& a, const ListNode& b) {
    if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
        if (!equal(machine, a.items[i], b.items[i])) return false;
    return true;
}

bool equal_objects(Machine& machine, const ObjectNode& a, const ObjectNode& b) {
    if (a.entries().size() != b.entries().size()) return false;
    for (const Entry& entry : a.entries()) {
        const Value* found = b.find(entry.key);
        if (found == nullptr || !equal(machine, entry.value, *found)) return false;
    }
    return true;
}

// -1, 0, 1; 2 for unordered (NaN).
int compare_numbers(const Value& a, const Value& b) {
    if (is_whole(a) && is_whole(b)) {
        const std::int64_t left = ValueAccess::integer(a);
        const std::int64_t right = ValueAccess::integer(b);
        return left < right ? -1 : left > right ? 1 : 0;
    }
    const double left = to_real(a);
    const double right = to_real(b);
    if (left < right) return -1;
    if (left > right) return 1;
    return left == right ? 0 : 2;
}

bool holds(Operator op, int order) {
    if (order == 2) return false;
    switch (op) {
        case Operator::less:
            return order < 0;
        case Operator::less_equal:
            return order <= 0;
        case Operator::greater:
            return order > 0;
        default:
            return order >= 0;
    }
}

std::string_view sign_of(Operator op) {
    switch (op) {
        case Operator::less:
            return "<";
        case Operator::less_equal:
            return "<=";
        case Operator::greater:
            return ">";
        default:
            return ">=";
    }
}

bool is_same_sequence_kind(const Value& a, const Value& b) {
    if (a.kind() != Kind::list || b.kind() != Kind::list) return false;
    const ListKind kind = ValueAccess::list(a).kind;
    return kind == ValueAccess::list(b).kind && (kind == ListKind::list || kind == ListKind::tuple);
}

}  // namespace

std::string type_name(const Value& value) {
    switch (value.kind()) {
        case Kind::undefined:
            return "Undefined";
        case Kind::none:
            return "NoneType";
        case Kind::boolean:
            return "bool";
        case Kind::integer:
            return "int";
        case Kind::real:
            return "float";
        case Kind::string:
            return "str";
        case Kind::object:
            return "dict";
        case Kind::other:
            return other(value).type();
        case Kind::list:
            break;
    }
    switch (ValueAccess::list(value).kind) {
        case ListKind::list:
            return "list";
        case ListKind::tuple:
            return "tuple";
        case ListKind::range:
            return "range";
        case ListKind::dict_keys:
            return "dict_keys";
        case ListKind::dict_values:
            return "dict_values";
        case ListKind::dict_items:
            return "dict_items";
        case ListKind::generator:
            break;
    }
    return "generator";
}

bool is_whole(const Value& value) {
    return value.kind() == Kind::integer || value.kind() == Kind::boolean;
}

bool is_number(const Value& value) { return is_whole(value) || value.kind() == Kind::real; }

double to_real(const Value& number) {
    return number.kind() == Kind::real ? ValueAccess::real(number)
                                       : static_cast<double>(ValueAccess::integer(number));
}

void demand_defined(const Value& value) {
    if (!value.is_undefined()) return;
    const Value name = ValueAccess::missing_name(value);
    const std::string text =
        name.kind() == Kind::string ? std::string(name.as_string()) : std::string();
    switch (ValueAccess::missing(value)) {
        case Missing::name:
            fail(text.empty() ? "a value is undefined" : "'" + text + "' is undefined");
        case Missing::item:
            fail("a list or object has no such element");
        case Missing::attribute:
            fail("the object has no attribute '" + text + "'");
        case Missing::unsafe:
            fail("access to attribute '" + text + "' is unsafe");
        case Missing::hint:
            break;
    }
    fail(text);
}

bool truth(const Value& value) {
    switch (value.kind()) {
        case Kind::undefined:
        case Kind::none:
            return false;
        case Kind::boolean:
        case Kind::integer:
            return ValueAccess::integer(value) != 0;
        case Kind::real:
            return ValueAccess::real(value) != 0;
        case Kind::string:
            return !value.as_string().empty();
        case Kind::list:
            return ValueAccess::list(value).kind == ListKind::generator || value.size() > 0;
        case Kind::object:
            return value.size() > 0;
        case Kind::other:
            break;
    }
    return true;
}

bool equal(Machine& machine, const Value& a, const Value& b) {
    machine.budget().step();
    if (a.kind() == Kind::string && b.kind() == Kind::string) {
        machine.budget().work(std::min(a.size(), b.size()));
        return a.as_string() == b.as_string();
    }
    if (is_number(a) && is_number(b)) return same_key(a, b);
    if (a.kind() != b.kind()) return false;
    if (a.kind() == Kind::undefined || a.kind() == Kind::none) return true;
    if (ValueAccess::node(a) == ValueAccess::node(b)) return true;
    machine.budget().check_stack();
    if (a.kind() == Kind::object)
        return equal_objects(machine, ValueAccess::object(a), ValueAccess::object(b));
    if (a.kind() == Kind::list) {
        const ListKind kind = ValueAccess::list(a).kind;
        if (kind == ListKind::generator || kind == ListKind::dict_values) return false;
        return equal_lists(machine, ValueAccess::list(a), ValueAccess::list(b));
    }
    return false;
}

bool ordered(Machine& machine, Operator op, const Value& a, const Value& b) {
    machine.budget().step();
    demand_defined(a);
    demand_defined(b);
    if (is_number(a) && is_number(b)) return holds(op, compare_numbers(a, b));
    if (a.kind() == Kind::string && b.kind() == Kind::string) {
        machine.budget().work(std::min(a.size(), b.size()));
        const int order = a.as_string().compare(b.as_string());
        return holds(op, order < 0 ? -1 : order > 0 ? 1 : 0);
    }
    if (!is_same_sequence_kind(a, b))
        fail("'" + std::string(sign_of(op)) + "' not supported between instances of '" +
             type_name(a) + "' and '" + type_name(b) + "'");
    machine.budget().check_stack();
    const auto& left = ValueAccess::list(a).items;
    const auto& right = ValueAccess::list(b).items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
        if (!equal(machine, left[i], right[i])) return ordered(machine, op, left[i], right[i]);
    return holds(op, left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0);
}

bool contains(Machine& machine, const Value& container, const Value& item) {
    switch (container.kind()) {
        case Kind::undefined:
            return false;
        case Kind::string:
            if (item.kind() != Kind::string)
                fail("'in <string>' requires string as left operand, not " + type_name(item));
            machine.budget().work(container.size() + item.size());
            return find_text(container.as_string(), item.as_string()) != std::string_view::npos;
        case Kind::object:
            if (!is_hashable(item)) fail("unhashable type: '" + type_name(item) + "'");
            return ValueAccess::object(container).find(item) != nullptr;
        case Kind::list: {
            const Items items(machine, container);
            return std::any_of(items.begin(), items.end(), [&](const Value& candidate) {
                return equal(machine, candidate, item);
            });
        }
        default:
            fail("argument of type '" + type_name(container) + "' is not iterable");
    }
}

bool compare(Machine& machine, Operator op, const Value& a, const Value& b) {
    switch (op) {
        case Operator::equal:
            return equal(machine, a, b);
        case Operator::not_equal:
            return !equal(machine, a, b);
        case Operator::in:
            return contains(machine, b, a);
        case Operator::not_in:
            return !contains(machine, b, a);
        default:
            return ordered(machine, op, a, b);
    }
}

Items::Items(Machine& machine, const Value& value) {
    switch (value.kind()) {
        case Kind::undefined:
            return;
        case Kind::list: {
            const ListNode& list = ValueAccess::list(value);
            keep_ = value;
            view_ = list.items;
            if (list.kind == ListKind::generator) {
                view_ = view_.subspan(list.taken);
                list.taken = list.items.size();
            }
            return;
        }
        case Kind::object: {
            const auto& entries = ValueAccess::object(value).entries();
            machine.budget().items(entries.size());
            machine.budget().memory().need(entries.size() * sizeof(Value));
            for (const Entry& entry : entries) own_.push_back(entry.key);
            view_ = own_;
            return;
        }
        case Kind::string: {
            const MarkedString& text = ValueAccess::text(value);
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t next = at + character_at(text.view(), at).length;
                machine.budget().memory().need((own_.size() + 1) * sizeof(Value));
                own_.push_back(machine.string(text.slice(at, next)));
                at = next;
            }
            view_ = own_;
            return;
        }
        default:
            fail("'" + type_name(value) + "' object is not iterable");
    }
}

bool is_iterable(const Value& value) {
    return value.is_undefined() || value.kind() == Kind::string || value.kind() == Kind::list ||
           value.kind() == Kind::object;
}

std::size_t length(const Value& value) {
    switch (value.kind()) {
        case Kind::undefined:
            return 0;
        case Kind::string:
            return count_characters(value.as_string());
        case Kind::object:
            return value.size();
        case Kind::list:
            if (ValueAccess::list(value).kind != ListKind::generator) return value.size();
            break;
        default:
            break;
    }
    if (value.kind() == Kind::other && other(value).type() == "LoopContext")
        return static_cast<LoopObject&>(other(value)).size();
    fail("object of type '" + type_name(value) + "' has no len()");
}

}  // namespace hearth::chat
