// Python's operators on Values: truth, equality, order, arithmetic, membership, and walking over
// things.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat/tree.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

// Python's name of the type: "str", "NoneType", "dict", …
std::string type_name(const Value& value);

bool is_number(const Value& value);  // integer, real or boolean
bool is_whole(const Value& value);   // integer or boolean
double to_real(const Value& number);

bool truth(const Value& value);
bool equal(Machine& machine, const Value& a, const Value& b);
// less, less_equal, greater, greater_equal. Throws for what has no order.
bool ordered(Machine& machine, Operator op, const Value& a, const Value& b);
bool contains(Machine& machine, const Value& container, const Value& item);
// One of the comparisons, `in` and `not in` included.
bool compare(Machine& machine, Operator op, const Value& a, const Value& b);

Value arithmetic(Machine& machine, Operator op, const Value& a, const Value& b);
Value negate(const Value& value);
// Throws UndefinedError's message when the value is undefined.
void demand_defined(const Value& value);

// What a loop walks: the items of a list, the keys of a map, the characters of a string. Taking the
// items of a generator uses it up. Throws for what cannot be walked.
class Items {
public:
    Items() = default;
    Items(Machine& machine, const Value& value);
    std::span<const Value> view() const { return view_; }
    std::size_t size() const { return view_.size(); }
    // Memory of items made for this walk.
    std::size_t own_bytes() const { return own_.capacity() * sizeof(Value); }
    const Value& operator[](std::size_t at) const { return view_[at]; }
    auto begin() const { return view_.begin(); }
    auto end() const { return view_.end(); }
    std::vector<Value> copy() const { return {view_.begin(), view_.end()}; }

private:
    Value keep_;              // holds the list that view_ looks at
    std::vector<Value> own_;  // or the items made for this walk
    std::span<const Value> view_;
};

bool is_iterable(const Value& value);
// len(); throws for what has none.
std::size_t length(const Value& value);

}  // namespace hearth::chat
