// Methods of strings; see methods.h.
#include <algorithm>
#include <array>

#include "engine/chat/format.h"
#include "engine/chat/machine.h"
#include "engine/chat/methods.h"
#include "engine/chat/operators.h"
#include "engine/chat/string_checks.h"
#include "engine/chat/text_tools.h"

namespace hearth::chat {
namespace {

const MarkedString& text_of(const Value& self) { return ValueAccess::text(self); }

// The argument as text; it must be a string.
const MarkedString& text_argument(const Bound& bound, std::size_t at) {
    static_cast<void>(bound.string(at, {}));
    return ValueAccess::text(bound[at]);
}

Value strip_sides(Machine& machine, const Value& self, const Arguments& arguments, Sides sides) {
    const Bound bound("strip", arguments, {"chars"});
    const Span kept = strip(machine, self.as_string(), bound.get(0), sides);
    return machine.string(text_of(self).slice(kept.begin, kept.end));
}
Value method_strip(Machine& machine, const Value& self, const Arguments& arguments) {
    return strip_sides(machine, self, arguments, {true, true});
}
Value method_lstrip(Machine& machine, const Value& self, const Arguments& arguments) {
    return strip_sides(machine, self, arguments, {true, false});
}
Value method_rstrip(Machine& machine, const Value& self, const Arguments& arguments) {
    return strip_sides(machine, self, arguments, {false, true});
}

Value split_side(Machine& machine, const Value& self, const Arguments& arguments, bool from_right) {
    const Bound bound("split", arguments, {"sep", "maxsplit"});
    const MarkedString* separator = bound.some(0) != nullptr ? &text_argument(bound, 0) : nullptr;
    return split(machine, text_of(self), {separator, bound.integer(1, -1), from_right});
}
Value method_split(Machine& machine, const Value& self, const Arguments& arguments) {
    return split_side(machine, self, arguments, false);
}
Value method_rsplit(Machine& machine, const Value& self, const Arguments& arguments) {
    return split_side(machine, self, arguments, true);
}

Value method_splitlines(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("splitlines", arguments, {"keepends"});
    std::vector<Value> lines;
    for (const Span& line : lines_of(machine, self.as_string(), bound.flag(0)))
        lines.push_back(machine.string(text_of(self).slice(line.begin, line.end)));
    return machine.list(std::move(lines));
}

// str.partition and rpartition: before, separator, after.
Value partition(Machine& machine, const Value& self, const Arguments& arguments, bool from_right) {
    const Bound bound("partition", arguments, {"sep"}, 1);
    const MarkedString& separator = text_argument(bound, 0);
    if (separator.empty()) fail("empty separator");
    const MarkedString& text = text_of(self);
    machine.budget().work(text.size() + separator.size());
    machine.budget().memory().need(text.size() + separator.size());
    const std::size_t at = from_right ? find_last_text(text.view(), separator.view())
                                      : find_text(text.view(), separator.view());
    const Value nothing = machine.string("", true);
    if (at == std::string_view::npos) {
        std::vector<Value> whole = {self, nothing, nothing};
        if (from_right) std::swap(whole[0], whole[2]);
        return machine.list(std::move(whole), ListKind::tuple);
    }
    const std::size_t after = at + separator.size();
    return machine.list({machine.string(text.slice(0, at)), machine.string(text.slice(at, after)),
                         machine.string(text.slice(after, text.size()))},
                        ListKind::tuple);
}
Value method_partition(Machine& machine, const Value& self, const Arguments& arguments) {
    return partition(machine, self, arguments, false);
}
Value method_rpartition(Machine& machine, const Value& self, const Arguments& arguments) {
    return partition(machine, self, arguments, true);
}

// The bytes [start, end) that the arguments `at` and `at + 1` choose by characters, as in s.find(x,
// start, end).
Span window(Machine& machine, std::string_view text, const Bound& bound, std::size_t at) {
    if (bound.some(at) == nullptr && bound.some(at + 1) == nullptr) return {0, text.size()};
    machine.budget().work(2 * text.size());
    const auto count = static_cast<std::int64_t>(count_characters(text));
    const auto place = [&](std::size_t which, std::int64_t fallback) {
        std::int64_t index = bound.some(which) != nullptr ? bound.integer(which, 0) : fallback;
        if (index < 0) index = std::max<std::int64_t>(index + count, 0);
        return byte_of_character(text, static_cast<std::size_t>(std::min(index, count + 1)));
    };
    const Span bytes{place(at, 0), place(at + 1, count)};
    return bytes;
}

// Whether the start may be: "abc".find("", 4) finds nothing, as 4 lies beyond the end.
bool starts_inside(std::string_view text, const Bound& bound, std::size_t at) {
    if (bound.some(at) == nullptr) return true;
    return bound.integer(at, 0) <= static_cast<std::int64_t>(count_characters(text));
}

bool has_edge(Machine& machine, const Value& self, const Arguments& arguments, bool at_start) {
    const Bound bound(at_start ? "startswith" : "endswith", arguments, {"prefix", "start", "end"},
                      1);
    const Span span = window(machine, self.as_string(), bound, 1);
    if (span.begin > span.end || !starts_inside(self.as_string(), bound, 1)) return false;
    const std::string_view text = self.as_string().substr(span.begin, span.end - span.begin);
    const auto matches = [&](const Value& edge) {
        if (edge.kind() != Kind::string)
            fail("startswith and endswith need a str or a tuple of str, not " + type_name(edge));
        machine.budget().work(edge.size());
        const std::string_view part = edge.as_string();
        if (part.size() > text.size()) return false;
        return text.substr(at_start ? 0 : text.size() - part.size(), part.size()) == part;
    };
    demand_defined(bound[0]);
    if (bound[0].kind() == Kind::list && ValueAccess::list(bound[0]).kind == ListKind::tuple) {
        const auto& edges = ValueAccess::list(bound[0]).items;
        return std::any_of(edges.begin(), edges.end(), matches);
    }
    return matches(bound[0]);
}
Value method_startswith(Machine& machine, const Value& self, const Arguments& arguments) {
    return Value::boolean(has_edge(machine, self, arguments, true), Origin::trusted);
}
Value method_endswith(Machine& machine, const Value& self, const Arguments& arguments) {
    return Value::boolean(has_edge(machine, self, arguments, false), Origin::trusted);
}

// Where the text is, in characters, or -1.
std::int64_t place(Machine& machine, const Value& self, const Arguments& arguments, bool last) {
    const Bound bound(last ? "rfind" : "find", arguments, {"sub", "start", "end"}, 1);
    const std::string_view text = self.as_string();
    const MarkedString& sought = text_argument(bound, 0);
    machine.budget().work(text.size() + sought.size());
    machine.budget().memory().need(text.size() + sought.size());
    const Span span = window(machine, text, bound, 1);
    if (span.begin > span.end || !starts_inside(text, bound, 1)) return -1;
    const std::string_view part = text.substr(span.begin, span.end - span.begin);
    const std::size_t found =
        last ? find_last_text(part, sought.view()) : find_text(part, sought.view());
    if (found == std::string_view::npos) return -1;
    return static_cast<std::int64_t>(count_characters(text.substr(0, span.begin + found)));
}
Value method_find(Machine& machine, const Value& self, const Arguments& arguments) {
    return Value::integer(place(machine, self, arguments, false), Origin::trusted);
}
Value method_rfind(Machine& machine, const Value& self, const Arguments& arguments) {
    return Value::integer(place(machine, self, arguments, true), Origin::trusted);
}
Value found_or_fail(std::int64_t at) {
    if (at < 0) fail("substring not found");
    return Value::integer(at, Origin::trusted);
}
Value method_index(Machine& machine, const Value& self, const Arguments& arguments) {
    return found_or_fail(place(machine, self, arguments, false));
}
Value method_rindex(Machine& machine, const Value& self, const Arguments& arguments) {
    return found_or_fail(place(machine, self, arguments, true));
}

Value method_count(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("count", arguments, {"sub", "start", "end"}, 1);
    const MarkedString& sought = text_argument(bound, 0);
    const Span span = window(machine, self.as_string(), bound, 1);
    std::int64_t count = 0;
    if (span.begin <= span.end && starts_inside(self.as_string(), bound, 1)) {
        const std::string_view text = self.as_string().substr(span.begin, span.end - span.begin);
        machine.budget().work(text.size() + sought.size());
        if (sought.empty()) {
            count = static_cast<std::int64_t>(count_characters(text)) + 1;
        } else {
            for (std::size_t at = find_text(text, sought.view()); at != std::string_view::npos;
                 at = find_text(text, sought.view(), at + sought.size()))
                ++count;
        }
    }
    return Value::integer(count, Origin::trusted);
}

Value method_replace(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
    return replace(machine, text_of(self), text_argument(bound, 0), text_argument(bound, 1),
                   bound.integer(2, -1));
}

Value method_join(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("join", arguments, {"iterable"}, 1);
    const Items items(machine, bound[0]);
    for (const Value& item : items)
        if (item.kind() != Kind::string)
            fail("sequence item: expected str instance, " + type_name(item) + " found");
    return join(machine, text_of(self), items.copy());
}

template <LetterCase letter_case>
Value method_case(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("a change of case", arguments, {});
    return change_case(machine, text_of(self), letter_case);
}

template <Align align>
Value method_pad(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("ljust, rjust or center", arguments, {"width", "fillchar"}, 1);
    const MarkedString space(" ", true);
    const MarkedString& fill = bound.has(1) ? text_argument(bound, 1) : space;
    if (count_characters(fill.view()) != 1)
        fail("the fill character must be exactly one character long");
    return pad(machine, text_of(self), bound.integer(0, 0), align, fill);
}

Value method_zfill(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("zfill", arguments, {"width"}, 1);
    const MarkedString& text = text_of(self);
    const bool has_sign = !text.empty() && (text.view()[0] == '-' || text.view()[0] == '+');
    const std::size_t sign = has_sign ? 1 : 0;
    const Value digits =
        pad(machine, text.slice(sign, text.size()),
            bound.integer(0, 0) - static_cast<std::int64_t>(sign), Align::right, {"0", true});
    Builder out(machine.budget());
    out.append(text, 0, sign);
    out.append(ValueAccess::text(digits));
    return machine.string(out.take());
}

Value method_removeprefix(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("removeprefix", arguments, {"prefix"}, 1);
    const std::string_view prefix = text_argument(bound, 0).view();
    if (self.as_string().substr(0, prefix.size()) != prefix) return self;
    return machine.string(text_of(self).slice(prefix.size(), self.size()));
}

Value method_removesuffix(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("removesuffix", arguments, {"suffix"}, 1);
    const std::string_view suffix = text_argument(bound, 0).view();
    const std::string_view text = self.as_string();
    if (suffix.size() > text.size() || text.substr(text.size() - suffix.size()) != suffix)
        return self;
    return machine.string(text_of(self).slice(0, text.size() - suffix.size()));
}

template <bool (*check)(std::string_view)>
Value method_check(Machine& machine, const Value& self, const Arguments& arguments) {
    const Bound bound("a check of characters", arguments, {});
    machine.budget().work(self.size());
    return Value::boolean(check(self.as_string()), Origin::trusted);
}

constexpr std::array<Method, 40> kMethods = {{
    {"strip", method_strip},
    {"lstrip", method_lstrip},
    {"rstrip", method_rstrip},
    {"split", method_split},
    {"rsplit", method_rsplit},
    {"splitlines", method_splitlines},
    {"partition", method_partition},
    {"rpartition", method_rpartition},
    {"startswith", method_startswith},
    {"endswith", method_endswith},
    {"find", method_find},
    {"rfind", method_rfind},
    {"index", method_index},
    {"rindex", method_rindex},
    {"count", method_count},
    {"replace", method_replace},
    {"join", method_join},
    {"format", format_braces},
    {"upper", method_case<LetterCase::upper>},
    {"lower", method_case<LetterCase::lower>},
    {"casefold", method_case<LetterCase::lower>},
    {"swapcase", method_case<LetterCase::swap>},
    {"capitalize", method_case<LetterCase::capitalize>},
    {"title", method_case<LetterCase::title>},
    {"ljust", method_pad<Align::left>},
    {"rjust", method_pad<Align::right>},
    {"center", method_pad<Align::center>},
    {"zfill", method_zfill},
    {"removeprefix", method_removeprefix},
    {"removesuffix", method_removesuffix},
    {"isalpha", method_check<is_all_letters>},
    {"isalnum", method_check<is_all_letters_or_numbers>},
    {"isdigit", method_check<is_all_digits>},
    {"isdecimal", method_check<is_all_decimals>},
    {"isnumeric", method_check<is_all_numbers>},
    {"isspace", method_check<is_all_spaces>},
    {"isupper", method_check<is_all_upper>},
    {"islower", method_check<is_all_lower>},
    {"isascii", method_check<is_all_ascii>},
    {"istitle", method_check<is_all_title>},
}};

}  // namespace

const Method* find_string_method(std::string_view name) {
    for (const Method& method : kMethods)
        if (method.name == name) return &method;
    return nullptr;
}

}  // namespace hearth::chat
