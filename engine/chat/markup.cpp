// Safe text; see markup.h.
#include "engine/chat/markup.h"

#include "engine/chat/format.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

Value escape_text(Machine& machine, const MarkedString& text) {
    Builder out(machine.budget());
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string_view by;
        switch (text.view()[at]) {
            case '&':
                by = "&amp;";
                break;
            case '<':
                by = "&lt;";
                break;
            case '>':
                by = "&gt;";
                break;
            case '"':
                by = "&#34;";
                break;
            case '\'':
                by = "&#39;";
                break;
            default:
                continue;
        }
        out.append(text, start, at);
        out.append(by, text.trusted_at(at));
        start = at + 1;
    }
    out.append(text, start, text.size());
    return machine.string(out.take());
}

// Numbers keep their type, so that they can be formatted; they have nothing to escape.
Value escape_argument(Machine& machine, const Value& value) {
    return is_number(value) ? value : escape_markup(machine, value);
}

Value escape_items(Machine& machine, const Value& list) {
    const Items items(machine, list);
    std::vector<Value> escaped = items.copy();
    for (Value& item : escaped) item = escape_argument(machine, item);
    const bool is_tuple =
        list.kind() == Kind::list && ValueAccess::list(list).kind == ListKind::tuple;
    return machine.list(std::move(escaped), is_tuple ? ListKind::tuple : ListKind::list);
}

bool takes_text(std::string_view method) {
    return method == "format" || method == "replace" || method == "join";
}

}  // namespace

Value escape_markup(Machine& machine, const Value& value) {
    if (ValueAccess::is_markup(value)) return value;
    const Value text = to_string(machine, value);
    return ValueAccess::markup(escape_text(machine, ValueAccess::text(text)));
}

Value add_markup(Machine& machine, const Value& a, const Value& b) {
    const Value left = escape_markup(machine, a);
    const Value right = escape_markup(machine, b);
    Builder out(machine.budget());
    out.append(ValueAccess::text(left));
    out.append(ValueAccess::text(right));
    return ValueAccess::markup(machine.string(out.take()));
}

Value format_markup(Machine& machine, const Value& format, const Value& values) {
    Value escaped;
    if (values.kind() == Kind::list && ValueAccess::list(values).kind == ListKind::tuple) {
        escaped = escape_items(machine, values);
    } else if (values.kind() == Kind::object) {
        std::vector<Entry> entries = ValueAccess::object(values).entries();
        for (Entry& entry : entries) entry.value = escape_argument(machine, entry.value);
        escaped = machine.object(std::move(entries));
    } else {
        escaped = escape_argument(machine, values);
    }
    return ValueAccess::markup(format_percent(machine, format, escaped));
}

Value call_markup_method(Machine& machine, const Value& self, const Method& method,
                         const Arguments& arguments) {
    Arguments escaped = arguments;
    if (method.name == "join" && escaped.positional.size() == 1) {
        escaped.positional[0] = escape_items(machine, escaped.positional[0]);
    } else if (takes_text(method.name)) {
        for (std::size_t i = 0; i < escaped.positional.size(); ++i) {
            if (method.name == "replace" && i == 0) continue;  // the text that is sought
            escaped.positional[i] = escape_argument(machine, escaped.positional[i]);
        }
        for (auto& [name, value] : escaped.named) value = escape_argument(machine, value);
    }
    const Value result = method.function(machine, self, escaped);
    if (result.kind() == Kind::string) return ValueAccess::markup(result);
    if (result.kind() != Kind::list) return result;
    const ListNode& list = ValueAccess::list(result);
    std::vector<Value> parts = list.items;
    for (Value& part : parts) part = ValueAccess::markup(part);
    return machine.list(std::move(parts), list.kind);
}

}  // namespace hearth::chat
