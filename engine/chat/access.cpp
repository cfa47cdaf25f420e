// Members, subscripts and slices, as the immutable sandbox of Jinja2 looks them up; see machine.h.
#include <algorithm>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

// Python's own members, which the sandbox refuses on every object.
bool is_unsafe_name(std::string_view name) {
    return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

// Where `index` points in `count` items, counted from the end when negative; `count` when outside.
std::size_t position(std::int64_t index, std::size_t count) {
    const auto size = static_cast<std::int64_t>(count);
    if (index < 0) index += size;
    return index < 0 || index >= size ? count : static_cast<std::size_t>(index);
}

struct SliceRange {
    std::int64_t start;
    std::int64_t step;
    std::size_t count;
};

std::int64_t slice_number(const Value& value) {
    if (!is_whole(value)) fail("slice indices must be integers or None");
    return ValueAccess::integer(value);
}

// As PySlice_AdjustIndices does.
SliceRange slice_range(std::size_t length, const Value* start, const Value* stop,
                       const Value* step) {
    const auto size = static_cast<std::int64_t>(length);
    const auto given = [](const Value* value) { return value != nullptr && !value->is_none(); };
    const std::int64_t stride = given(step) ? slice_number(*step) : 1;
    if (stride == 0) fail("slice step cannot be zero");
    const std::int64_t low = stride < 0 ? -1 : 0;
    const std::int64_t high = stride < 0 ? size - 1 : size;
    const auto clamp = [&](const Value* value, std::int64_t fallback) {
        if (!given(value)) return fallback;
        std::int64_t number = slice_number(*value);
        if (number < 0) number = number < -size ? low : number + size;
        return std::clamp(number, low, high);
    };
    const std::int64_t first = clamp(start, stride < 0 ? high : low);
    const std::int64_t end = clamp(stop, stride < 0 ? low : high);
    SliceRange range{first, stride, 0};
    // A step beyond the length takes one item; the product of large steps could overflow.
    if (stride > 0 && first < end)
        range.count = static_cast<std::size_t>((end - first - 1) / stride) + 1;
    if (stride < 0 && first > end)
        range.count =
            static_cast<std::size_t>((first - end - 1) / -std::max(stride, -size - 1)) + 1;
    return range;
}

Value string_slice(Machine& machine, const Value& value, const SliceRange& range) {
    const MarkedString& text = ValueAccess::text(value);
    machine.budget().work(text.size());
    if (range.count == 0) return machine.string("", true);
    if (range.step == 1) {
        const auto first = static_cast<std::size_t>(range.start);
        const std::size_t begin = byte_of_character(text.view(), first);
        const std::size_t length = byte_of_character(text.view().substr(begin), range.count);
        return machine.string(text.slice(begin, begin + length));
    }
    machine.budget().memory().need((text.size() + 1) * sizeof(std::size_t));
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < text.size(); at += character_at(text.view(), at).length)
        starts.push_back(at);
    starts.push_back(text.size());
    Builder out(machine.budget());
    std::int64_t at = range.start;
    for (std::size_t i = 0; i < range.count; ++i, at += i < range.count ? range.step : 0) {
        const auto character = static_cast<std::size_t>(at);
        out.append(text, starts[character], starts[character + 1]);
    }
    return machine.string(out.take());
}

Value list_slice(Machine& machine, const ListNode& list, const SliceRange& range) {
    machine.budget().items(range.count);
    machine.budget().memory().need(range.count * sizeof(Value));
    std::vector<Value> items;
    items.reserve(range.count);
    std::int64_t at = range.start;
    for (std::size_t i = 0; i < range.count; ++i, at += i < range.count ? range.step : 0)
        items.push_back(list.items[static_cast<std::size_t>(at)]);
    return machine.list(std::move(items), list.kind);
}

bool can_index(const ListNode& list) {
    return list.kind == ListKind::list || list.kind == ListKind::tuple ||
           list.kind == ListKind::range;
}

// The item, or null (with `made` empty) when there is none.
const Value* find_item(Machine& machine, const Value& object, const Value& index, Value& made) {
    if (object.kind() == Kind::object)
        return is_hashable(index) ? ValueAccess::object(object).find(index) : nullptr;
    if (!is_whole(index)) return nullptr;
    if (object.kind() == Kind::list) {
        const ListNode& list = ValueAccess::list(object);
        if (!can_index(list)) return nullptr;
        const std::size_t at = position(ValueAccess::integer(index), list.items.size());
        return at < list.items.size() ? &list.items[at] : nullptr;
    }
    if (object.kind() != Kind::string) return nullptr;
    const MarkedString& text = ValueAccess::text(object);
    machine.budget().work(text.size());
    const std::size_t count = count_characters(text.view());
    const std::size_t at = position(ValueAccess::integer(index), count);
    if (at == count) return nullptr;
    const std::size_t begin = byte_of_character(text.view(), at);
    made = machine.string(text.slice(begin, begin + character_at(text.view(), begin).length));
    return &made;
}

}  // namespace

Value Machine::attribute(const Value& object, const Value& name, const MethodSet& methods) {
    demand_defined(object);
    if (const Method* found = method_of(object, methods)) {
        if (found->function == nullptr) return ValueAccess::undefined(Missing::unsafe, name);
        return method(object, *found);
    }
    if (is_unsafe_name(name.as_string())) return ValueAccess::undefined(Missing::unsafe, name);
    if (object.kind() == Kind::object) {
        if (const Value* member = ValueAccess::object(object).find(name.as_string()))
            return *member;
    }
    if (object.kind() == Kind::other) {
        Value found;
        if (other(object).attribute(*this, name.as_string(), found)) return found;
    }
    return ValueAccess::undefined(Missing::attribute, name);
}

Value Machine::attribute(const Value& object, std::string_view name) {
    return attribute(object, string(name, true), find_methods(name));
}

Value Machine::item(const Value& object, const Value& index) {
    demand_defined(object);
    Value made;
    if (const Value* found = find_item(*this, object, index, made)) return *found;
    if (index.kind() != Kind::string) return ValueAccess::undefined(Missing::item, Value());
    if (object.kind() == Kind::object || object.kind() == Kind::other ||
        object.kind() == Kind::list || object.kind() == Kind::string)
        return attribute(object, index, find_methods(index.as_string()));
    return ValueAccess::undefined(Missing::attribute, index);
}

Value Machine::slice(const Value& object, const Value* start, const Value* stop,
                     const Value* step) {
    demand_defined(object);
    if (object.kind() == Kind::string) {
        const std::size_t count = count_characters(object.as_string());
        budget_.work(object.size());
        Value part = string_slice(*this, object, slice_range(count, start, stop, step));
        return ValueAccess::is_markup(object) ? ValueAccess::markup(std::move(part)) : part;
    }
    if (object.kind() == Kind::list && can_index(ValueAccess::list(object))) {
        const ListNode& list = ValueAccess::list(object);
        return list_slice(*this, list, slice_range(list.items.size(), start, stop, step));
    }
    return ValueAccess::undefined(Missing::item, Value());
}

}  // namespace hearth::chat
