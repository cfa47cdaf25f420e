// Methods of strings, lists and maps that templates may call. Those that would change a list or map
// are known and refused, as in Jinja2's immutable sandbox.
#pragma once

#include <string_view>

#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;
struct Arguments;

struct Method {
    std::string_view name;
    // Null: the method exists in Python and is refused.
    Value (*function)(Machine& machine, const Value& self, const Arguments& arguments);
};

// What one name means on each type; null where the type has no such method.
struct MethodSet {
    const Method* on_string = nullptr;
    const Method* on_list = nullptr;
    const Method* on_tuple = nullptr;
    const Method* on_object = nullptr;
};

MethodSet find_methods(std::string_view name);

const Method* find_string_method(std::string_view name);
const Method* find_list_method(std::string_view name);
const Method* find_tuple_method(std::string_view name);
const Method* find_object_method(std::string_view name);
// The method of this value's type, or null.
const Method* method_of(const Value& value, const MethodSet& methods);

}  // namespace hearth::chat
