// str() and repr(); JSON is in print_json.cpp. See print.h.
#include "engine/chat/print.h"

#include <array>
#include <charconv>
#include <cmath>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"

namespace hearth::chat {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

std::string hex(std::int32_t code, int digits) {
    std::string out(static_cast<std::size_t>(digits), '0');
    for (auto at = out.rbegin(); at != out.rend(); ++at, code >>= 4)
        *at = kHex[static_cast<std::size_t>(code & 15)];
    return out;
}

// The escape of one character in a repr, or nothing when it stands for itself.
std::string repr_escape(std::int32_t code, char quote) {
    if (code == quote || code == '\\') return {'\\', static_cast<char>(code)};
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    if (code < 0 || is_printable(code)) return {};
    if (code < 0x100) return "\\x" + hex(code, 2);
    return code < 0x10000 ? "\\u" + hex(code, 4) : "\\U" + hex(code, 8);
}

void print_string_repr(const MarkedString& text, Builder& out) {
    const std::string_view view = text.view();
    const bool has_single = view.find('\'') != std::string_view::npos;
    const char quote = has_single && view.find('"') == std::string_view::npos ? '"' : '\'';
    const std::string_view mark(&quote, 1);
    out.append(mark, false);
    std::size_t start = 0;
    for (std::size_t at = 0; at < view.size();) {
        const Character next = character_at(view, at);
        const std::string escape = repr_escape(next.code, quote);
        if (!escape.empty()) {
            out.append(text, start, at);
            out.append(escape, text.trusted_at(at));
            start = at + next.length;
        }
        at += next.length;
    }
    out.append(text, start, view.size());
    out.append(mark, false);
}

void print_range_repr(const ListNode& list, Builder& out) {
    const auto& items = list.items;
    const std::int64_t first = items.empty() ? 0 : items.front().as_integer();
    const std::int64_t step = items.size() < 2 ? 1 : items[1].as_integer() - first;
    const std::int64_t stop = items.empty() ? 0 : items.back().as_integer() + step;
    std::string text = "range(" + std::to_string(first) + ", " + std::to_string(stop);
    if (step != 1) text += ", " + std::to_string(step);
    out.append(text + ")", false);
}

void print_list_repr(Machine& machine, const ListNode& list, Builder& out) {
    if (list.kind == ListKind::generator) return out.append("<generator object>", false);
    if (list.kind == ListKind::range) return print_range_repr(list, out);
    const bool is_view = list.kind != ListKind::list && list.kind != ListKind::tuple;
    const bool is_tuple = list.kind == ListKind::tuple;
    if (is_view)
        out.append(list.kind == ListKind::dict_keys     ? "dict_keys("
                   : list.kind == ListKind::dict_values ? "dict_values("
                                                        : "dict_items(",
                   false);
    out.append(is_tuple ? "(" : "[", false);
    bool is_first = true;
    for (const Value& item : list.items) {
        if (!is_first) out.append(", ", false);
        is_first = false;
        print_repr(machine, item, out);
    }
    if (is_tuple && list.items.size() == 1) out.append(",", false);
    out.append(is_tuple ? ")" : "]", false);
    if (is_view) out.append(")", false);
}

void print_object_repr(Machine& machine, const ObjectNode& object, Builder& out) {
    out.append("{", false);
    bool is_first = true;
    for (const Entry& entry : object.entries()) {
        if (!is_first) out.append(", ", false);
        is_first = false;
        print_repr(machine, entry.key, out);
        out.append(": ", false);
        print_repr(machine, entry.value, out);
    }
    out.append("}", false);
}

}  // namespace

std::string real_repr(double real) {
    if (std::isnan(real)) return "nan";
    if (std::isinf(real)) return real < 0 ? "-inf" : "inf";
    std::array<char, 32> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real,
                                       std::chars_format::scientific);
    const std::string_view text(buffer.data(),
                                static_cast<std::size_t>(written.ptr - buffer.data()));
    const std::size_t mark = text.find('e');
    int exponent = 0;
    const bool plus = text[mark + 1] == '+';
    std::from_chars(text.data() + mark + (plus ? 2 : 1), text.data() + text.size(), exponent);
    std::string digits;
    std::string sign;
    for (const char c : text.substr(0, mark)) {
        if (c == '-') sign = "-";
        if (c >= '0' && c <= '9') digits.push_back(c);
    }
    // Python writes an exponent below 1e-4 and from 1e16.
    if (exponent < -4 || exponent >= 16) {
        std::string out = sign + digits.substr(0, 1);
        if (digits.size() > 1) out += "." + digits.substr(1);
        const std::string size = std::to_string(std::abs(exponent));
        return out + (exponent < 0 ? "e-" : "e+") + (size.size() < 2 ? "0" : "") + size;
    }
    if (exponent < 0)
        return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= whole)
        return sign + digits + std::string(whole - digits.size(), '0') + ".0";
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

void print(Machine& machine, const Value& value, Builder& out) {
    const bool trusted = ValueAccess::is_trusted(value);
    switch (value.kind()) {
        case Kind::undefined:
            return;
        case Kind::none:
            return out.append("None", trusted);
        case Kind::boolean:
            return out.append(truth(value) ? "True" : "False", trusted);
        case Kind::integer:
            return out.append(std::to_string(value.as_integer()), trusted);
        case Kind::real:
            return out.append(real_repr(value.as_real()), trusted);
        case Kind::string:
            return out.append(ValueAccess::text(value));
        case Kind::list:
        case Kind::object:
        case Kind::other:
            break;
    }
    print_repr(machine, value, out);
}

void print_repr(Machine& machine, const Value& value, Builder& out) {
    machine.budget().step();
    machine.budget().check_stack();
    switch (value.kind()) {
        case Kind::undefined:
            return out.append("Undefined", false);
        case Kind::string: {
            const bool is_safe = ValueAccess::is_markup(value);
            if (is_safe) out.append("Markup(", false);
            print_string_repr(ValueAccess::text(value), out);
            return is_safe ? out.append(")", false) : void();
        }
        case Kind::list:
            return print_list_repr(machine, ValueAccess::list(value), out);
        case Kind::object:
            return print_object_repr(machine, ValueAccess::object(value), out);
        case Kind::other:
            return out.append(other(value).repr(), false);
        case Kind::none:
        case Kind::boolean:
        case Kind::integer:
        case Kind::real:
            break;
    }
    print(machine, value, out);
}

Value to_string(Machine& machine, const Value& value) {
    if (value.kind() == Kind::string) return value;
    Builder out(machine.budget());
    print(machine, value, out);
    return machine.string(out.take());
}

std::string short_repr(const Value& value, std::size_t limit) {
    if (value.kind() == Kind::string)
        return "'" + std::string(first_characters(value.as_string(), limit)) + "'";
    if (value.kind() == Kind::integer) return std::to_string(value.as_integer());
    return "a value of type " + type_name(value);
}

}  // namespace hearth::chat
