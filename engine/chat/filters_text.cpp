// Filters on text; see functions.h. Meanings as in Jinja2's filters of the same names.
#include "engine/chat/filters_text.h"

#include <algorithm>

#include "engine/chat/arguments.h"
#include "engine/chat/format.h"
#include "engine/chat/machine.h"
#include "engine/chat/markup.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"
#include "engine/chat/text_tools.h"

namespace hearth::chat::filters {
namespace {

// `result` is safe when the text it was made of is.
Value like(const Value& text, Value result) {
    return ValueAccess::is_markup(text) ? ValueAccess::markup(std::move(result)) : result;
}

template <LetterCase letter_case>
Value cased(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("a filter", arguments, {});
    const Value text = to_string(machine, input);
    return like(text, change_case(machine, ValueAccess::text(text), letter_case));
}

}  // namespace

Value upper(Machine& machine, const Value& input, const Arguments& arguments) {
    return cased<LetterCase::upper>(machine, input, arguments);
}
Value lower(Machine& machine, const Value& input, const Arguments& arguments) {
    return cased<LetterCase::lower>(machine, input, arguments);
}
Value capitalize(Machine& machine, const Value& input, const Arguments& arguments) {
    return cased<LetterCase::capitalize>(machine, input, arguments);
}

Value title(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("title", arguments, {});
    const Value text = to_string(machine, input);
    return title_words(machine, ValueAccess::text(text));
}

Value trim(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("trim", arguments, {"chars"});
    const Value text = to_string(machine, input);
    const Span kept = strip(machine, text.as_string(), bound.get(0), {true, true});
    return like(text, machine.string(ValueAccess::text(text).slice(kept.begin, kept.end)));
}

Value string(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("string", arguments, {});
    return to_string(machine, input);
}

Value safe(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("safe", arguments, {});
    return ValueAccess::markup(to_string(machine, input));
}

Value escape(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("escape", arguments, {});
    return escape_markup(machine, input);
}

Value forceescape(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("forceescape", arguments, {});
    return escape_markup(machine, ValueAccess::plain(to_string(machine, input)));
}

Value replace(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
    const Value text = to_string(machine, input);
    const Value old = to_string(machine, bound[0]);
    const Value by = to_string(machine, bound[1]);
    const std::int64_t most = bound.some(2) != nullptr ? bound.integer(2, -1) : -1;
    return chat::replace(machine, ValueAccess::text(text), ValueAccess::text(old),
                         ValueAccess::text(by), most);
}

Value indent(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("indent", arguments, {"width", "first", "blank"});
    demand_defined(input);
    if (input.kind() != Kind::string) fail("indent() needs a string, not " + type_name(input));
    const MarkedString four("    ", true);
    MarkedString width = four;
    if (bound.has(0) && bound[0].kind() == Kind::string) {
        width = ValueAccess::text(bound[0]);
    } else if (bound.has(0)) {
        const auto spaces =
            static_cast<std::size_t>(std::max<std::int64_t>(bound.integer(0, 4), 0));
        machine.budget().memory().need(spaces);
        width = MarkedString(std::string(spaces, ' '), true);
    }
    const MarkedString& text = ValueAccess::text(input);
    std::vector<Span> lines = lines_of(machine, text.view(), false);
    // Jinja2 adds a newline before it splits, so that a text that ends in one keeps it.
    if (lines.empty() || lines.back().end != text.size())
        lines.push_back({text.size(), text.size()});
    Builder out(machine.budget());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) out.append("\n", false);
        const bool is_blank = lines[i].begin == lines[i].end;
        const bool is_indented = i == 0 ? bound.flag(1) : bound.flag(2) || !is_blank;
        if (is_indented) out.append(width);
        out.append(text, lines[i].begin, lines[i].end);
    }
    return machine.string(out.take());
}

Value center(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("center", arguments, {"width"});
    const Value text = to_string(machine, input);
    return pad(machine, ValueAccess::text(text), bound.integer(0, 80), Align::center, {" ", true});
}

Value truncate(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("truncate", arguments, {"length", "killwords", "end", "leeway"});
    demand_defined(input);
    if (input.kind() != Kind::string) fail("truncate() needs a string, not " + type_name(input));
    const MarkedString& text = ValueAccess::text(input);
    const MarkedString dots("...", true);
    static_cast<void>(bound.string(2, {}));
    const MarkedString& end = bound.has(2) ? ValueAccess::text(bound[2]) : dots;
    const std::int64_t limit = bound.integer(0, 255);
    const std::int64_t leeway = bound.some(3) != nullptr ? bound.integer(3, 5) : 5;
    const auto end_length = static_cast<std::int64_t>(count_characters(end.view()));
    if (limit < end_length) fail("truncate() needs a length of at least its end's");
    if (leeway < 0) fail("truncate() needs a leeway of at least 0");
    machine.budget().work(text.size());
    const auto length = static_cast<std::int64_t>(count_characters(text.view()));
    if (length <= limit || length - limit <= leeway) return input;
    const auto kept = static_cast<std::size_t>(limit - end_length);
    std::size_t stop = byte_of_character(text.view(), kept);
    if (!bound.flag(1)) {
        const std::size_t space = text.view().substr(0, stop).rfind(' ');
        if (space != std::string_view::npos) stop = space;
    }
    Builder out(machine.budget());
    out.append(text, 0, stop);
    out.append(end);
    return machine.string(out.take());
}

Value wordcount(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("wordcount", arguments, {});
    const Value value = to_string(machine, input);
    const std::string_view text = value.as_string();
    machine.budget().work(text.size());
    std::int64_t words = 0;
    bool is_inside = false;
    for (std::size_t at = 0; at < text.size();) {
        const Character next = character_at(text, at);
        const bool is_word = next.code == '_' || is_letter(next.code) || is_number(next.code);
        if (is_word && !is_inside) ++words;
        is_inside = is_word;
        at += next.length;
    }
    return Value::integer(words, Origin::trusted);
}

Value format(Machine& machine, const Value& input, const Arguments& arguments) {
    if (!arguments.positional.empty() && !arguments.named.empty())
        fail("can't handle positional and keyword arguments at the same time");
    const Value text = to_string(machine, input);
    const auto format_with = ValueAccess::is_markup(text) ? format_markup : format_percent;
    if (arguments.named.empty())
        return format_with(machine, text, machine.list(arguments.positional, ListKind::tuple));
    std::vector<Entry> names;
    for (const auto& [name, value] : arguments.named)
        names.push_back({machine.string(name, true), value});
    return format_with(machine, text, machine.object(std::move(names)));
}

Value tojson(Machine& machine, const Value& input, const Arguments& arguments) {
    const Bound bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
    JsonStyle style;
    style.ascii = bound.flag(0);
    style.sort_keys = bound.flag(3);
    if (const Value* indent = bound.some(1)) {
        style.item_separator = ",";
        if (indent->kind() == Kind::string) {
            style.indent = std::string(indent->as_string());
        } else {
            const std::int64_t width = std::max<std::int64_t>(bound.integer(1, 0), 0);
            machine.budget().memory().need(static_cast<std::size_t>(width));
            style.indent = std::string(static_cast<std::size_t>(width), ' ');
        }
    }
    if (const Value* separators = bound.some(2)) {
        const Items items(machine, *separators);
        if (items.size() != 2 || items[0].kind() != Kind::string || items[1].kind() != Kind::string)
            fail("tojson() needs two strings as separators");
        style.item_separator = items[0].as_string();
        style.key_separator = items[1].as_string();
    }
    Builder out(machine.budget());
    print_json(machine, input, style, out);
    return machine.string(out.take());
}

}  // namespace hearth::chat::filters
