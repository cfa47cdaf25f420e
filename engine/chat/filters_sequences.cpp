// Filters that pick from, join and walk sequences; see filters_sequences.h. Those that order are in
// filters_order.cpp.
#include "engine/chat/filters_sequences.h"

#include <algorithm>

#include "engine/chat/functions.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"
#include "engine/chat/sequences.h"
#include "engine/chat/text_tools.h"

namespace hearth::chat {

AttributePath attribute_path(Machine& machine, const Value* attribute) {
    AttributePath path;
    if (attribute == nullptr || attribute->is_none()) return path;
    if (attribute->kind() != Kind::string) {
        path.push_back(*attribute);
        return path;
    }
    std::string_view rest = attribute->as_string();
    for (;;) {
        machine.budget().step();
        const std::size_t dot = rest.find('.');
        const std::string_view part = rest.substr(0, dot);
        const bool is_digits = !part.empty() && part.size() < 18 &&
                               part.find_first_not_of("0123456789") == std::string_view::npos;
        path.push_back(is_digits ? Value::integer(std::stoll(std::string(part)))
                                 : machine.string(part, true));
        if (dot == std::string_view::npos) return path;
        rest.remove_prefix(dot + 1);
    }
}

Value follow(Machine& machine, Value item, const AttributePath& path, const Value* fallback) {
    for (const Value& part : path) {
        machine.budget().step();
        item = machine.item(item, part);
        if (fallback != nullptr && !fallback->is_none() && item.is_undefined()) item = *fallback;
    }
    return item;
}

}  // namespace hearth::chat

namespace hearth::chat::filters {
namespace {

// Collects items within the memory budget.
class Collector {
public:
    explicit Collector(Machine& machine) : machine_(machine) {}
    void add(Value value) {
        machine_.budget().step();
        machine_.budget().memory().need((items_.size() + 1) * sizeof(Value));
        items_.push_back(std::move(value));
    }
    Value take(ListKind kind) { return machine_.list(std::move(items_), kind); }
    bool empty() const { return items_.empty(); }
    std::size_t size() const { return items_.size(); }

private:
    Machine& machine_;
    std::vector<Value> items_;
};

// Name and arguments of a test or filter that stand from position `at` of another's arguments.
struct Named {
    std::string name;
    Arguments arguments;
};
Named named_from(const Arguments& arguments, std::size_t at) {
    const Value& name = arguments.positional[at];
    if (name.kind() != Kind::string) fail("the name of a filter or test must be a string");
    Named named{std::string(name.as_string()), {}};
    const auto rest = arguments.positional.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    named.arguments.positional.assign(rest, arguments.positional.end());
    named.arguments.named = arguments.named;
    return named;
}

struct Choice {
    bool by_attribute;
    bool keep;  // keep what the test holds for, or what it does not hold for
};
Value choose(Machine& machine, const Value& input, const Arguments& arguments, Choice choice) {
    if (!truth(input)) return machine.list({}, ListKind::generator);
    AttributePath path;
    if (choice.by_attribute) {
        if (arguments.positional.empty()) fail("missing parameter for attribute name");
        path = attribute_path(machine, &arguments.positional[0]);
    }
    const std::size_t at = choice.by_attribute ? 1 : 0;
    Function test = nullptr;
    Named named;
    if (arguments.positional.size() > at) {
        named = named_from(arguments, at);
        test = find_test(named.name);
        if (test == nullptr) fail("no test named '" + named.name + "'");
    }
    Collector chosen(machine);
    const Items items(machine, input);
    for (const Value& item : items) {
        const Value subject = follow(machine, item, path, nullptr);
        const bool holds =
            truth(test != nullptr ? test(machine, subject, named.arguments) : subject);
        if (holds == choice.keep) chosen.add(item);
    }
    return chosen.take(ListKind::generator);
}

Value no_item(Machine& machine, std::string_view text) {
    return ValueAccess::undefined(Missing::hint, machine.string(text, true));
}

}  // namespace

Value select(Machine& machine, const Value& input, const Arguments& arguments) {
    return choose(machine, input, arguments, {.by_attribute = false, .keep = true});
}
Value reject(Machine& machine, const Value& input, const Arguments& arguments) {
    return choose(machine, input, arguments, {.by_attribute = false, .keep = false});
}
Value selectattr(Machine& machine, const Value& input, const Arguments& arguments) {
    return choose(machine, input, arguments, {.by_attribute = true, .keep = true});
}
Value rejectattr(Machine& machine, const Value& input, const Arguments& arguments) {
    return choose(machine, input, arguments, {.by_attribute = true, .keep = false});
}

Value map(Machine& machine, const Value& input, const Arguments& arguments) {
    if (!truth(input)) return machine.list({}, ListKind::generator);
    Collector mapped(machine);
    if (arguments.positional.empty()) {
        const Bound bound("map", arguments, {"attribute", "default"});
        if (!bound.has(0)) fail("map requires a filter argument");
        const AttributePath path = attribute_path(machine, bound.get(0));
        const Items items(machine, input);
        for (const Value& item : items) mapped.add(follow(machine, item, path, bound.get(1)));
        return mapped.take(ListKind::generator);
    }
    const Named named = named_from(arguments, 0);
    const Function filter = find_filter(named.name);
    if (filter == nullptr) fail("no filter named '" + named.name + "'");
    // map('map', 'map', …) nests without nesting in the source.
    machine.budget().check_stack();
    const Items items(machine, input);
    for (const Value& item : items) mapped.add(filter(machine, item, named.arguments));
    return mapped.take(ListKind::generator);
}

Value default_(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("default", arguments, {"default_value", "boolean"});
    if (!input.is_undefined() && (truth(input) || !bound.flag(1))) return input;
    return bound.has(0) ? bound[0] : Value::string("", Origin::trusted);
}

Value length(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("length", arguments, {});
    machine.budget().work(input.kind() == Kind::string ? input.size() : 0);
    return Value::integer(static_cast<std::int64_t>(chat::length(input)), Origin::trusted);
}

Value first(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("first", arguments, {});
    if (input.kind() == Kind::list) {
        const ListNode& list = ValueAccess::list(input);
        if (list.taken < list.items.size()) {
            const Value& item = list.items[list.taken];
            if (list.kind == ListKind::generator) ++list.taken;
            return item;
        }
    } else if (input.kind() == Kind::string) {
        if (input.size() > 0) return machine.item(input, Value::integer(0));
    } else {
        const Items items(machine, input);
        if (items.size() > 0) return items[0];
    }
    return no_item(machine, "no first item, sequence was empty");
}

Value last(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("last", arguments, {});
    if (input.kind() == Kind::list && ValueAccess::list(input).kind == ListKind::generator)
        fail("'generator' object is not reversible");
    if (input.kind() == Kind::string && input.size() > 0)
        return machine.item(input, Value::integer(-1));
    const Items items(machine, input);
    if (items.size() > 0) return items[items.size() - 1];
    return no_item(machine, "no last item, sequence was empty");
}

Value list(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("list", arguments, {});
    const Items items(machine, input);
    machine.budget().items(items.size());
    machine.budget().memory().need(items.size() * sizeof(Value));
    return machine.list(items.copy());
}

Value join(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("join", arguments, {"d", "attribute"});
    const Value separator = bound.has(0) ? to_string(machine, bound[0]) : machine.string("", true);
    const AttributePath path = attribute_path(machine, bound.get(1));
    const Items items(machine, input);
    machine.budget().memory().need(items.size() * sizeof(Value));
    std::vector<Value> parts = items.copy();
    for (Value& part : parts) part = follow(machine, part, path, nullptr);
    return chat::join(machine, ValueAccess::text(separator), parts);
}

Value reverse(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("reverse", arguments, {});
    if (input.kind() == Kind::string) {
        const Value step = Value::integer(-1);
        return machine.slice(input, nullptr, nullptr, &step);
    }
    const Items items(machine, input);
    machine.budget().items(items.size());
    machine.budget().memory().need(items.size() * sizeof(Value));
    std::vector<Value> reversed = items.copy();
    std::reverse(reversed.begin(), reversed.end());
    return machine.list(std::move(reversed), ListKind::generator);
}

Value items(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("items", arguments, {});
    Collector pairs(machine);
    if (!input.is_undefined()) {
        if (input.kind() != Kind::object) fail("can only get item pairs from a mapping");
        for (const Entry& entry : ValueAccess::object(input).entries())
            pairs.add(machine.list({entry.key, entry.value}, ListKind::tuple));
    }
    return pairs.take(ListKind::generator);
}

Value attr(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("attr", arguments, {"name"}, 1);
    demand_defined(input);
    const Value name = to_string(machine, bound[0]);
    const MethodSet methods = find_methods(name.as_string());
    // Unlike a dot, this filter never looks at the members of a map.
    const bool is_member = input.kind() == Kind::object && methods.on_object == nullptr;
    if (is_member) return ValueAccess::undefined(Missing::attribute, name);
    return machine.attribute(input, name, methods);
}

Value batch(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("batch", arguments, {"linecount", "fill_with"}, 1);
    const std::int64_t count = bound.integer(0, 1);
    Collector batches(machine);
    Collector row(machine);
    const Items items(machine, input);
    for (const Value& item : items) {
        if (static_cast<std::int64_t>(row.size()) == count) batches.add(row.take(ListKind::list));
        row.add(item);
    }
    if (!row.empty()) {
        while (bound.some(1) != nullptr && static_cast<std::int64_t>(row.size()) < count)
            row.add(bound[1]);
        batches.add(row.take(ListKind::list));
    }
    return batches.take(ListKind::generator);
}

Value slice(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("slice", arguments, {"slices", "fill_with"}, 1);
    const std::int64_t slices = bound.integer(0, 1);
    if (slices == 0) fail("division by zero");
    const Items items(machine, input);
    const auto count = static_cast<std::int64_t>(items.size());
    Collector rows(machine);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < slices; ++i) {
        const bool is_longer = i < count % slices;
        Collector row(machine);
        for (std::int64_t k = 0; k < count / slices + (is_longer ? 1 : 0); ++k)
            row.add(items[static_cast<std::size_t>(at++)]);
        if (bound.some(1) != nullptr && !is_longer) row.add(bound[1]);
        rows.add(row.take(ListKind::list));
    }
    return rows.take(ListKind::generator);
}

}  // namespace hearth::chat::filters
