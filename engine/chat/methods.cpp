// Methods of lists and maps, and the lookup; see methods.h. Those of strings are in
// string_methods.cpp.
#include "engine/chat/methods.h"

#include <array>

#include "engine/chat/machine.h"
#include "engine/chat/operators.h"

namespace hearth::chat {
namespace {

Value list_index(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("index", arguments, {"value"}, 1);
    const auto& items = ValueAccess::list(self).items;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (equal(machine, items[i], bound[0]))
            return Value::integer(static_cast<std::int64_t>(i), Origin::trusted);
    fail("the value is not in the list");
}

Value list_count(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("count", arguments, {"value"}, 1);
    std::int64_t count = 0;
    for (const Value& item : ValueAccess::list(self).items)
        if (equal(machine, item, bound[0])) ++count;
    return Value::integer(count, Origin::trusted);
}

// Values never change, so that a copy is the value itself.
Value copy(Machine&, const Value& self, const Arguments& arguments) {
    const Bound bound("copy", arguments, {});
    return self;
}

Value object_get(Machine&, const Value& self, const Arguments& arguments) {
    const Bound bound("get", arguments, {"key", "default"}, 1);
    if (!is_hashable(bound[0])) fail("unhashable type: '" + type_name(bound[0]) + "'");
    if (const Value* found = ValueAccess::object(self).find(bound[0])) return *found;
    return bound.has(1) ? bound[1] : Value::none();
}

std::vector<Value> reserved(Machine& machine, const Value& self) {
    machine.budget().items(self.size());
    machine.budget().memory().need(self.size() * sizeof(Value));
    std::vector<Value> items;
    items.reserve(self.size());
    return items;
}

Value object_items(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("items", arguments, {});
    std::vector<Value> items = reserved(machine, self);
    for (const Entry& entry : ValueAccess::object(self).entries())
        items.push_back(machine.list({entry.key, entry.value}, ListKind::tuple));
    return machine.list(std::move(items), ListKind::dict_items);
}

Value object_keys(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("keys", arguments, {});
    std::vector<Value> items = reserved(machine, self);
    for (const Entry& entry : ValueAccess::object(self).entries()) items.push_back(entry.key);
    return machine.list(std::move(items), ListKind::dict_keys);
}

Value object_values(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("values", arguments, {});
    std::vector<Value> items = reserved(machine, self);
    for (const Entry& entry : ValueAccess::object(self).entries()) items.push_back(entry.value);
    return machine.list(std::move(items), ListKind::dict_values);
}

constexpr std::array<Method, 11> kListMethods = {{
    {"index", list_index},
    {"count", list_count},
    {"copy", copy},
    {"append", nullptr},
    {"clear", nullptr},
    {"extend", nullptr},
    {"insert", nullptr},
    {"pop", nullptr},
    {"remove", nullptr},
    {"reverse", nullptr},
    {"sort", nullptr},
}};

constexpr std::array<Method, 2> kTupleMethods = {{{"index", list_index}, {"count", list_count}}};

constexpr std::array<Method, 10> kObjectMethods = {{
    {"get", object_get},
    {"items", object_items},
    {"keys", object_keys},
    {"values", object_values},
    {"copy", copy},
    {"clear", nullptr},
    {"pop", nullptr},
    {"popitem", nullptr},
    {"setdefault", nullptr},
    {"update", nullptr},
}};

template <std::size_t count>
const Method* find(const std::array<Method, count>& methods, std::string_view name) {
    for (const Method& method : methods)
        if (method.name == name) return &method;
    return nullptr;
}

}  // namespace

const Method* find_list_method(std::string_view name) { return find(kListMethods, name); }
const Method* find_tuple_method(std::string_view name) { return find(kTupleMethods, name); }
const Method* find_object_method(std::string_view name) { return find(kObjectMethods, name); }

MethodSet find_methods(std::string_view name) {
    return {find_string_method(name), find_list_method(name), find_tuple_method(name),
            find_object_method(name)};
}

const Method* method_of(const Value& value, const MethodSet& methods) {
    switch (value.kind()) {
        case Kind::string:
            return methods.on_string;
        case Kind::object:
            return methods.on_object;
        case Kind::list:
            break;
        default:
            return nullptr;
    }
    switch (ValueAccess::list(value).kind) {
        case ListKind::list:
            return methods.on_list;
        case ListKind::tuple:
        case ListKind::range:
            return methods.on_tuple;
        default:
            return nullptr;
    }
}

}  // namespace hearth::chat
