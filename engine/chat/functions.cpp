// The table of filters and the global functions; see functions.h.
#include "engine/chat/functions.h"

#include <algorithm>
#include <array>

#include "engine/chat/clock.h"
#include "engine/chat/filters_sequences.h"
#include "engine/chat/filters_text.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

constexpr std::array<NamedFunction, 45> kFilters = {{
    {"abs", filters::abs},
    {"attr", filters::attr},
    {"batch", filters::batch},
    {"capitalize", filters::capitalize},
    {"center", filters::center},
    {"count", filters::length},
    {"d", filters::default_},
    {"default", filters::default_},
    {"dictsort", filters::dictsort},
    {"e", filters::escape},
    {"escape", filters::escape},
    {"first", filters::first},
    {"float", filters::float_},
    {"forceescape", filters::forceescape},
    {"format", filters::format},
    {"indent", filters::indent},
    {"int", filters::int_},
    {"items", filters::items},
    {"join", filters::join},
    {"last", filters::last},
    {"length", filters::length},
    {"list", filters::list},
    {"lower", filters::lower},
    {"map", filters::map},
    {"max", filters::max},
    {"min", filters::min},
    {"reject", filters::reject},
    {"rejectattr", filters::rejectattr},
    {"replace", filters::replace},
    {"reverse", filters::reverse},
    {"round", filters::round},
    {"safe", filters::safe},
    {"select", filters::select},
    {"selectattr", filters::selectattr},
    {"slice", filters::slice},
    {"sort", filters::sort},
    {"string", filters::string},
    {"sum", filters::sum},
    {"title", filters::title},
    {"tojson", filters::tojson},
    {"trim", filters::trim},
    {"truncate", filters::truncate},
    {"unique", filters::unique},
    {"upper", filters::upper},
    {"wordcount", filters::wordcount},
}};

// Jinja2's sandbox has the same limit.
constexpr std::uint64_t kMostRange = 100'000;

Value global_range(Machine& machine, const Value&, const Arguments& arguments) {
    const Bound bound("range", arguments, {"start", "stop", "step"}, 1);
    const std::int64_t start = bound.has(1) ? bound.integer(0, 0) : 0;
    const std::int64_t stop = bound.has(1) ? bound.integer(1, 0) : bound.integer(0, 0);
    const std::int64_t step = bound.integer(2, 1);
    if (step == 0) fail("range() arg 3 must not be zero");
    // Unsigned arithmetic: the distance of two 64-bit numbers may not fit a signed one.
    const auto distance =
        step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
    const auto stride = step > 0 ? static_cast<std::uint64_t>(step)
                                 : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    const bool is_empty = step > 0 ? start >= stop : start <= stop;
    const std::uint64_t count = is_empty ? 0 : (distance - 1) / stride + 1;
    if (count > kMostRange)
        throw Failure{ErrorCode::budget_exceeded,
                      "range() is too long: at most " + std::to_string(kMostRange) + " numbers"};
    machine.budget().items(count);
    machine.budget().memory().need(count * sizeof(Value));
    std::vector<Value> numbers;
    numbers.reserve(count);
    std::int64_t number = start;
    for (std::uint64_t i = 0; i < count; ++i, number += i < count ? step : 0)
        numbers.push_back(Value::integer(number, Origin::trusted));
    return machine.list(std::move(numbers), ListKind::range);
}

// The members of dict(mapping or pairs, name=value, …).
std::vector<Entry> members(Machine& machine, const Arguments& arguments) {
    std::vector<Entry> entries;
    if (arguments.positional.size() > 1) fail("dict expected at most 1 argument");
    if (!arguments.positional.empty()) {
        const Value& given = arguments.positional[0];
        demand_defined(given);
        machine.budget().items(given.size());
        machine.budget().memory().need(given.size() * sizeof(Entry));
        if (given.kind() == Kind::object) {
            entries = ValueAccess::object(given).entries();
        } else {
            const Items pairs(machine, given);
            for (const Value& pair : pairs) {
                const Items parts(machine, pair);
                if (parts.size() != 2) fail("dict needs pairs of key and value");
                entries.push_back({parts[0], parts[1]});
            }
        }
    }
    for (const auto& [name, value] : arguments.named)
        entries.push_back({machine.string(name, true), value});
    return entries;
}

Value global_dict(Machine& machine, const Value&, const Arguments& arguments) {
    return machine.object(members(machine, arguments));
}

Value global_namespace(Machine& machine, const Value&, const Arguments& arguments) {
    const Value given = machine.object(members(machine, arguments));
    Value value = machine.keep(new NamespaceObject(machine.budget().memory()));
    auto& space = static_cast<NamespaceObject&>(other(value));
    // Members are searched one by one.
    constexpr std::size_t kMost = 1024;
    if (given.size() > kMost) fail("a namespace may start with at most 1024 members");
    for (const Entry& entry : ValueAccess::object(given).entries()) {
        if (entry.key.kind() != Kind::string) fail("keywords must be strings");
        space.set(entry.key, entry.value);
    }
    return value;
}

Value global_cycler(Machine& machine, const Value&, const Arguments& arguments) {
    if (arguments.positional.empty()) fail("at least one item has to be provided");
    return machine.keep(new CyclerObject(arguments.positional, machine.budget().memory()));
}

Value global_joiner(Machine& machine, const Value&, const Arguments& arguments) {
    const Bound bound("joiner", arguments, {"sep"});
    const Value separator = bound.has(0) ? bound[0] : machine.string(", ", true);
    return machine.keep(new JoinerObject(separator, machine.budget().memory()));
}

Value global_raise_exception(Machine& machine, const Value&, const Arguments& arguments) {
    const Bound bound("raise_exception", arguments, {"message"}, 1);
    fail(std::string(to_string(machine, bound[0]).as_string()));
}

Value global_strftime_now(Machine& machine, const Value&, const Arguments& arguments) {
    const Bound bound("strftime_now", arguments, {"format"}, 1);
    static_cast<void>(bound.string(0, {}));
    return format_time(machine, bound[0], machine.now());
}

constexpr std::array<NamedFunction, 7> kGlobals = {{
    {"range", global_range},
    {"dict", global_dict},
    {"namespace", global_namespace},
    {"cycler", global_cycler},
    {"joiner", global_joiner},
    {"raise_exception", global_raise_exception},
    {"strftime_now", global_strftime_now},
}};

}  // namespace

Function find_filter(std::string_view name) {
    for (const NamedFunction& filter : kFilters)
        if (filter.name == name) return filter.function;
    return nullptr;
}

const NamedFunction* find_global(std::string_view name) {
    for (const NamedFunction& global : kGlobals)
        if (global.name == name) return &global;
    return nullptr;
}

}  // namespace hearth::chat
