// Filters that order, compare and count: sort, dictsort, unique, min, max, sum, and those on
// numbers.
#include <algorithm>
#include <cmath>

#include "engine/chat/filters_sequences.h"
#include "engine/chat/machine.h"
#include "engine/chat/merge_sort.h"
#include "engine/chat/numbers.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"
#include "engine/chat/sequences.h"
#include "engine/chat/text_tools.h"

namespace hearth::chat {

Value without_case(Machine& machine, const Value& value) {
    if (value.kind() != Kind::string) return value;
    return change_case(machine, ValueAccess::text(value), LetterCase::lower);
}

}  // namespace hearth::chat

namespace hearth::chat::filters {
namespace {

struct Keyed {
    Value key;
    Value item;
};

void sort_by_key(Machine& machine, std::vector<Keyed>& items, bool descending) {
    merge_sort(items, [&](const Keyed& a, const Keyed& b) {
        return descending ? ordered(machine, Operator::less, b.key, a.key)
                          : ordered(machine, Operator::less, a.key, b.key);
    });
}

std::vector<Value> items_of(std::vector<Keyed> keyed) {
    std::vector<Value> items;
    items.reserve(keyed.size());
    for (Keyed& one : keyed) items.push_back(std::move(one.item));
    return items;
}

// "a,b.c" sorts by a, then by b.c.
std::vector<AttributePath> attribute_paths(Machine& machine, const Value* attribute) {
    std::vector<AttributePath> paths;
    if (attribute == nullptr || attribute->kind() != Kind::string) {
        paths.push_back(attribute_path(machine, attribute));
        return paths;
    }
    std::string_view rest = attribute->as_string();
    for (;;) {
        const std::size_t comma = rest.find(',');
        const Value name = machine.string(rest.substr(0, comma), true);
        paths.push_back(attribute_path(machine, &name));
        if (comma == std::string_view::npos) return paths;
        rest.remove_prefix(comma + 1);
    }
}

Value extreme(Machine& machine, const Value& input, const Arguments& arguments, Operator better) {
    const Bound bound("min or max", arguments, {"case_sensitive", "attribute"});
    const AttributePath path = attribute_path(machine, bound.get(1));
    const auto key_of = [&](const Value& item) {
        const Value key = follow(machine, item, path, nullptr);
        return bound.flag(0) ? key : without_case(machine, key);
    };
    const Items items(machine, input);
    if (items.size() == 0)
        return ValueAccess::undefined(
            Missing::hint, machine.string("no aggregated item, sequence was empty", true));
    Value best = items[0];
    Value best_key = key_of(best);
    for (std::size_t i = 1; i < items.size(); ++i) {
        Value key = key_of(items[i]);
        if (!ordered(machine, better, key, best_key)) continue;
        best = items[i];
        best_key = std::move(key);
    }
    return best;
}

}  // namespace

Value sort(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
    const std::vector<AttributePath> paths = attribute_paths(machine, bound.get(2));
    const Items items(machine, input);
    machine.budget().memory().need(items.size() * sizeof(Keyed));
    std::vector<Keyed> keyed;
    for (const Value& item : items) {
        std::vector<Value> keys;
        for (const AttributePath& path : paths) {
            const Value key = follow(machine, item, path, nullptr);
            keys.push_back(bound.flag(1) ? key : without_case(machine, key));
        }
        keyed.push_back({machine.list(std::move(keys)), item});
    }
    sort_by_key(machine, keyed, bound.flag(0));
    return machine.list(items_of(std::move(keyed)));
}

Value dictsort(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
    const std::string_view by = bound.string(1, "key");
    if (by != "key" && by != "value") fail("dictsort() sorts by 'key' or 'value'");
    demand_defined(input);
    if (input.kind() != Kind::object)
        fail("'" + type_name(input) + "' object has no attribute 'items'");
    std::vector<Keyed> keyed;
    for (const Entry& entry : ValueAccess::object(input).entries()) {
        const Value& key = by == "key" ? entry.key : entry.value;
        keyed.push_back({bound.flag(0) ? key : without_case(machine, key),
                         machine.list({entry.key, entry.value}, ListKind::tuple)});
    }
    sort_by_key(machine, keyed, bound.flag(2));
    return machine.list(items_of(std::move(keyed)));
}

Value unique(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("unique", arguments, {"case_sensitive", "attribute"});
    const AttributePath path = attribute_path(machine, bound.get(1));
    const Items items(machine, input);
    machine.budget().memory().need(items.size() * (sizeof(Entry) + sizeof(Value)));
    std::vector<Entry> entries;
    std::vector<Value> keys;
    for (const Value& item : items) {
        const Value found = follow(machine, item, path, nullptr);
        keys.push_back(bound.flag(0) ? found : without_case(machine, found));
        entries.push_back({keys.back(), Value()});
    }
    // A map keeps the first place of each key: an item is the first of its kind when its key is the
    // next in the map.
    const Value map = machine.object(std::move(entries));
    const auto& distinct = ValueAccess::object(map).entries();
    std::vector<Value> firsts;
    for (std::size_t i = 0; i < keys.size() && firsts.size() < distinct.size(); ++i)
        if (same_key(keys[i], distinct[firsts.size()].key)) firsts.push_back(items[i]);
    return machine.list(std::move(firsts), ListKind::generator);
}

Value min(Machine& machine, const Value& input, const Arguments& arguments) {
    return extreme(machine, input, arguments, Operator::less);
}

Value max(Machine& machine, const Value& input, const Arguments& arguments) {
    return extreme(machine, input, arguments, Operator::greater);
}

Value sum(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("sum", arguments, {"attribute", "start"});
    const AttributePath path = attribute_path(machine, bound.get(0));
    Value total = bound.has(1) ? bound[1] : Value::integer(0, Origin::trusted);
    if (total.kind() == Kind::string) fail("sum() can't sum strings");
    const Items items(machine, input);
    for (const Value& item : items)
        total = arithmetic(machine, Operator::add, total, follow(machine, item, path, nullptr));
    return total;
}

Value abs(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("abs", arguments, {});
    if (!is_number(input)) {
        demand_defined(input);
        fail("bad operand type for abs(): '" + type_name(input) + "'");
    }
    if (input.kind() == Kind::real) return Value::real(std::fabs(input.as_real()));
    const Value value = Value::integer(ValueAccess::integer(input));
    return value.as_integer() < 0 ? negate(value) : value;
}

Value int_(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("int", arguments, {"default", "base"});
    demand_defined(input);
    const Value fallback = bound.has(0) ? bound[0] : Value::integer(0, Origin::trusted);
    std::optional<double> real;
    if (input.kind() == Kind::string) {
        machine.budget().work(input.size());
        const int base = static_cast<int>(std::clamp<std::int64_t>(bound.integer(1, 10), -1, 99));
        if (const auto number = read_integer(input.as_string(), base))
            return Value::integer(*number);
        real = read_real(input.as_string());
        if (!real || !std::isfinite(*real)) return fallback;
    } else if (is_whole(input)) {
        return Value::integer(ValueAccess::integer(input));
    } else if (input.kind() == Kind::real) {
        real = input.as_real();
    } else {
        return fallback;
    }
    if (std::isnan(*real)) return fallback;
    if (!(std::fabs(*real) < 9.2e18)) fail("a number does not fit 64 bits");
    return Value::integer(static_cast<std::int64_t>(*real));
}

Value float_(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("float", arguments, {"default"});
    demand_defined(input);
    if (is_number(input)) return Value::real(to_real(input));
    if (input.kind() == Kind::string) {
        machine.budget().work(input.size());
        if (const auto real = read_real(input.as_string())) return Value::real(*real);
    }
    return bound.has(0) ? bound[0] : Value::real(0, Origin::trusted);
}

Value round(Machine&, const Value& input, const Arguments& arguments) {
    const Bound bound("round", arguments, {"precision", "method"});
    const std::int64_t precision = bound.integer(0, 0);
    const std::string_view method = bound.string(1, "common");
    demand_defined(input);
    if (!is_number(input)) fail("type " + type_name(input) + " doesn't define __round__");
    if (method == "common") {
        if (input.kind() == Kind::real) return Value::real(round_real(input.as_real(), precision));
        const std::int64_t whole = ValueAccess::integer(input);
        if (precision >= 0) return Value::integer(whole);
        return Value::integer(
            static_cast<std::int64_t>(round_real(static_cast<double>(whole), precision)));
    }
    if (method != "ceil" && method != "floor") fail("method must be common, ceil or floor");
    const double scale = std::pow(10.0, static_cast<double>(precision));
    const double scaled = to_real(input) * scale;
    return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

}  // namespace hearth::chat::filters
