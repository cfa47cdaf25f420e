// JSON as json.dumps writes it; see print.h.
#include <cmath>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"
#include "engine/chat/merge_sort.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

std::string unicode_escape(std::int32_t unit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "\\u0000";
    for (std::size_t at = 5; at >= 2; --at, unit >>= 4)
        out[at] = kHex[static_cast<std::size_t>(unit & 15)];
    return out;
}

std::string json_escape(std::int32_t code, bool ascii) {
    switch (code) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        case '\f':
            return "\\f";
        case '\b':
            return "\\b";
        default:
            break;
    }
    if (code >= 0 && code < 0x20) return unicode_escape(code);
    if (!ascii || code < 0x7f) return {};
    if (code == 0x7f) return {};
    if (code < 0x10000) return unicode_escape(code);
    // Two surrogates.
    const std::int32_t offset = code - 0x10000;
    return unicode_escape(0xd800 + (offset >> 10)) + unicode_escape(0xdc00 + (offset & 0x3ff));
}

class JsonPrinter {
public:
    JsonPrinter(Machine& machine, const JsonStyle& style, Builder& out)
        : machine_(machine), style_(style), out_(out) {}

    void print_value(const Value& value, int level) {
        machine_.budget().step();
        machine_.budget().check_stack();
        switch (value.kind()) {
            case Kind::none:
                return out_.append("null", false);
            case Kind::boolean:
                return out_.append(truth(value) ? "true" : "false", false);
            case Kind::integer:
                return out_.append(std::to_string(value.as_integer()), false);
            case Kind::real:
                return out_.append(real_text(value.as_real()), false);
            case Kind::string:
                return print_string(ValueAccess::text(value));
            case Kind::object:
                return print_object(ValueAccess::object(value), level);
            case Kind::list:
                if (ValueAccess::list(value).kind == ListKind::list ||
                    ValueAccess::list(value).kind == ListKind::tuple)
                    return print_list(ValueAccess::list(value), level);
                break;
            case Kind::undefined:
            case Kind::other:
                break;
        }
        fail("Object of type " + type_name(value) + " is not JSON serializable");
    }

private:
    static std::string real_text(double real) {
        if (std::isnan(real)) return "NaN";
        if (std::isinf(real)) return real < 0 ? "-Infinity" : "Infinity";
        return real_repr(real);
    }

    void print_string(const MarkedString& text) {
        const std::string_view view = text.view();
        out_.append("\"", false);
        std::size_t start = 0;
        for (std::size_t at = 0; at < view.size();) {
            const auto byte = static_cast<unsigned char>(view[at]);
            const bool is_plain =
                byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x80 || !style_.ascii);
            if (is_plain) {
                ++at;
                continue;
            }
            const Character next = character_at(view, at);
            const std::string escape = json_escape(next.code, style_.ascii);
            if (!escape.empty()) {
                out_.append(text, start, at);
                out_.append(escape, text.trusted_at(at));
                start = at + next.length;
            }
            at += next.length;
        }
        out_.append(text, start, view.size());
        out_.append("\"", false);
    }

    void break_line(int level) {
        if (!style_.indent) return;
        out_.append("\n", false);
        for (int i = 0; i < level; ++i) out_.append(*style_.indent, false);
    }

    void print_list(const ListNode& list, int level) {
        if (list.items.empty()) return out_.append("[]", false);
        out_.append("[", false);
        for (std::size_t i = 0; i < list.items.size(); ++i) {
            if (i > 0) out_.append(style_.item_separator, false);
            break_line(level + 1);
            print_value(list.items[i], level + 1);
        }
        break_line(level);
        out_.append("]", false);
    }

    void print_key(const Value& key) {
        switch (key.kind()) {
            case Kind::string:
                return print_string(ValueAccess::text(key));
            case Kind::none:
                return out_.append("\"null\"", false);
            case Kind::boolean:
                return out_.append(truth(key) ? "\"true\"" : "\"false\"", false);
            case Kind::integer:
                return out_.append('"' + std::to_string(key.as_integer()) + '"', false);
            case Kind::real:
                return out_.append('"' + real_text(key.as_real()) + '"', false);
            default:
                break;
        }
        fail("keys must be str, int, float, bool or None, not " + type_name(key));
    }

    void print_object(const ObjectNode& object, int level) {
        if (object.entries().empty()) return out_.append("{}", false);
        std::vector<const Entry*> entries;
        entries.reserve(object.entries().size());
        for (const Entry& entry : object.entries()) entries.push_back(&entry);
        if (style_.sort_keys)
            merge_sort(entries, [this](const Entry* a, const Entry* b) {
                return ordered(machine_, Operator::less, a->key, b->key);
            });
        out_.append("{", false);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i > 0) out_.append(style_.item_separator, false);
            break_line(level + 1);
            print_key(entries[i]->key);
            out_.append(style_.key_separator, false);
            print_value(entries[i]->value, level + 1);
        }
        break_line(level);
        out_.append("}", false);
    }

    Machine& machine_;
    const JsonStyle& style_;
    Builder& out_;
};

}  // namespace

void print_json(Machine& machine, const Value& value, const JsonStyle& style, Builder& out) {
    JsonPrinter(machine, style, out).print_value(value, 0);
}

}  // namespace hearth::chat
