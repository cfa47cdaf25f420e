// "%s" % values and "{}".format(…); see format.h.
#include "engine/chat/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/chat/characters.h"
#include "engine/chat/format_spec.h"
#include "engine/chat/machine.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

Value repr_of(Machine& machine, const Value& value) {
    Builder out(machine.budget());
    print_repr(machine, value, out);
    return machine.string(out.take());
}

class PercentFormat {
public:
    PercentFormat(Machine& machine, const MarkedString& format, const Value& values)
        : machine_(machine), format_(format), values_(values), out_(machine.budget()) {
        is_tuple_ =
            values.kind() == Kind::list && ValueAccess::list(values).kind == ListKind::tuple;
    }

    Value run() {
        const std::string_view text = format_.view();
        std::size_t start = 0;
        for (at_ = text.find('%'); at_ != std::string_view::npos; at_ = text.find('%', start)) {
            machine_.budget().step();
            out_.append(format_, start, at_);
            const std::size_t mark = at_++;
            convert(mark);
            start = at_;
        }
        out_.append(format_, start, text.size());
        const bool is_mapping = values_.kind() == Kind::object;
        const std::size_t given = is_tuple_ ? values_.size() : is_mapping ? 0 : 1;
        if (next_ < given) fail("not all arguments converted during string formatting");
        return machine_.string(out_.take());
    }

private:
    char peek() const {
        if (at_ >= format_.size()) fail("incomplete format");
        return format_.view()[at_];
    }

    const Value& next_value() {
        if (is_tuple_) {
            const auto& items = ValueAccess::list(values_).items;
            if (next_ >= items.size()) fail("not enough arguments for format string");
            return items[next_++];
        }
        if (next_++ > 0) fail("not enough arguments for format string");
        return values_;
    }

    std::int64_t read_number() {
        if (peek() == '*') {
            ++at_;
            const Value& value = next_value();
            if (!is_whole(value)) fail("* wants int");
            return ValueAccess::integer(value);
        }
        std::int64_t number = 0;
        while (peek() >= '0' && peek() <= '9') {
            number = std::min<std::int64_t>(number * 10 + (peek() - '0'), 1 << 24);
            ++at_;
        }
        return number;
    }

    void read_flags(FormatSpec& spec) {
        for (;; ++at_) {
            switch (peek()) {
                case '-':
                    spec.align = '<';
                    break;
                case '+':
                    spec.sign = '+';
                    break;
                case ' ':
                    if (spec.sign == '-') spec.sign = ' ';
                    break;
                case '#':
                    spec.is_alternate = true;
                    break;
                case '0':
                    spec.fill = "0";
                    break;
                default:
                    return;
            }
        }
    }

    // The member that "(name)" chooses, or null.
    const Value* read_name(Value& holder) {
        if (peek() != '(') return nullptr;
        const std::size_t begin = ++at_;
        for (int depth = 1; depth > 0; ++at_) {
            if (peek() == '(') ++depth;
            if (peek() == ')') --depth;
        }
        if (values_.kind() != Kind::object) fail("format requires a mapping");
        holder = machine_.string(format_.view().substr(begin, at_ - 1 - begin), true);
        const Value* found = ValueAccess::object(values_).find(holder);
        if (found == nullptr) fail("the format needs a missing key " + short_repr(holder));
        return found;
    }

    void convert(std::size_t mark) {
        Value holder;
        const Value* named = read_name(holder);
        FormatSpec spec;
        read_flags(spec);
        spec.width = read_number();
        if (spec.width < 0) {
            spec.align = '<';
            spec.width = -spec.width;
        }
        spec.width = std::min<std::int64_t>(spec.width, 1 << 24);
        if (peek() == '.') {
            ++at_;
            spec.precision = static_cast<int>(std::clamp<std::int64_t>(read_number(), 0, 1 << 24));
        }
        while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
        const char type = peek();
        ++at_;
        if (type == '%') return out_.append("%", format_.trusted_at(mark));
        append(named != nullptr ? *named : next_value(), type, spec);
    }

    void append(const Value& value, char type, FormatSpec spec) {
        if (spec.align == '\0') spec.align = '>';
        if (type == 's' || type == 'r' || type == 'a') {
            spec.fill = " ";
            spec.type = 's';
            return append_formatted(
                machine_, type == 's' ? to_string(machine_, value) : repr_of(machine_, value), spec,
                out_);
        }
        if (type == 'c' && value.kind() == Kind::string) {
            if (count_characters(value.as_string()) != 1) fail("%c requires int or char");
            spec.fill = " ";
            return append_formatted(machine_, value, spec, out_);
        }
        if (std::string_view("diuoxXeEfFgGc").find(type) == std::string_view::npos)
            fail(std::string("unsupported format character '") + type + "'");
        if (!is_number(value)) {
            demand_defined(value);
            fail(std::string("%") + type + " format: a number is required, not " +
                 type_name(value));
        }
        const bool wants_whole = std::string_view("diuoxX").find(type) != std::string_view::npos;
        spec.type = type == 'i' || type == 'u' ? 'd' : type;
        if (spec.fill == "0") spec.align = spec.align == '<' ? '<' : '=';
        if (spec.align == '<') spec.fill = " ";
        Value number = value;
        if (wants_whole && value.kind() == Kind::real) {
            if (type == 'o' || type == 'x' || type == 'X')
                fail("an integer is required, not float");
            if (!(std::fabs(value.as_real()) < 9.2e18)) fail("a number does not fit 64 bits");
            number = Value::integer(static_cast<std::int64_t>(value.as_real()));
        }
        if (number.kind() == Kind::boolean) number = Value::integer(ValueAccess::integer(number));
        append_formatted(machine_, number, spec, out_);
    }

    Machine& machine_;
    const MarkedString& format_;
    const Value& values_;
    Builder out_;
    bool is_tuple_ = false;
    std::size_t at_ = 0;
    std::size_t next_ = 0;
};

class BracesFormat {
public:
    BracesFormat(Machine& machine, const MarkedString& format, const Arguments& arguments)
        : machine_(machine), format_(format), arguments_(arguments), out_(machine.budget()) {}

    Value run() {
        const std::string_view text = format_.view();
        std::size_t start = 0;
        for (std::size_t at = text.find_first_of("{}"); at != std::string_view::npos;
             at = text.find_first_of("{}", start)) {
            machine_.budget().step();
            const bool is_double = at + 1 < text.size() && text[at + 1] == text[at];
            out_.append(format_, start, at + (is_double ? 1 : 0));
            start = at + 2;
            if (is_double) continue;
            if (text[at] == '}') fail("Single '}' encountered in format string");
            const std::size_t close = text.find_first_of("{}", at + 1);
            if (close == std::string_view::npos) fail("expected '}' before end of string");
            if (text[close] == '{') fail("fields inside of fields are not supported in format()");
            append_field(text.substr(at + 1, close - at - 1));
            start = close + 1;
        }
        out_.append(format_, start, text.size());
        return machine_.string(out_.take());
    }

private:
    void append_field(std::string_view field) {
        std::string_view spec_text;
        if (const std::size_t colon = field.find(':'); colon != std::string_view::npos) {
            spec_text = field.substr(colon + 1);
            field = field.substr(0, colon);
        }
        char conversion = '\0';
        if (const std::size_t mark = field.find('!'); mark != std::string_view::npos) {
            if (mark + 2 != field.size()) fail("expected ':' after conversion specifier");
            conversion = field.back();
            field = field.substr(0, mark);
        }
        Value value = field_value(field);
        if (conversion == 'r' || conversion == 'a') {
            value = repr_of(machine_, value);
        } else if (conversion == 's') {
            value = to_string(machine_, value);
        } else if (conversion != '\0') {
            fail(std::string("unknown conversion specifier '") + conversion + "'");
        }
        if (spec_text.empty()) return print(machine_, value, out_);
        if (!is_number(value) && value.kind() != Kind::string)
            fail("unsupported format string passed to " + type_name(value) + ".__format__");
        append_formatted(machine_, value, parse_format_spec(spec_text), out_);
    }

    // "name.member[0]"
    Value field_value(std::string_view field) {
        const std::size_t end = std::min(field.find_first_of(".["), field.size());
        Value value = first_value(field.substr(0, end));
        field.remove_prefix(end);
        while (!field.empty()) {
            machine_.budget().step();
            if (field[0] == '.') {
                const std::size_t stop = std::min(field.find_first_of(".[", 1), field.size());
                value = machine_.attribute(value, field.substr(1, stop - 1));
                demand_defined(value);
                field.remove_prefix(stop);
                continue;
            }
            const std::size_t stop = field.find(']');
            if (field[0] != '[' || stop == std::string_view::npos)
                fail("malformed field in format string");
            const std::string_view key = field.substr(1, stop - 1);
            std::int64_t number = 0;
            const auto read = std::from_chars(key.data(), key.data() + key.size(), number);
            const bool is_number_key =
                !key.empty() && read.ec == std::errc() && read.ptr == key.data() + key.size();
            value = machine_.item(
                value, is_number_key ? Value::integer(number) : machine_.string(key, true));
            demand_defined(value);
            field.remove_prefix(stop + 1);
        }
        return value;
    }

    Value first_value(std::string_view name) {
        std::size_t number = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
        const bool is_numbered =
            !name.empty() && read.ec == std::errc() && read.ptr == name.data() + name.size();
        if (name.empty() || is_numbered) {
            const Numbering wanted = is_numbered ? Numbering::manual : Numbering::automatic;
            if (numbering_ != Numbering::unknown && numbering_ != wanted)
                fail("cannot mix automatic and manual field numbering");
            numbering_ = wanted;
            if (!is_numbered) number = next_++;
            if (number >= arguments_.positional.size())
                fail("Replacement index " + std::to_string(number) +
                     " out of range for positional args tuple");
            return arguments_.positional[number];
        }
        for (const auto& [key, value] : arguments_.named)
            if (key == name) return value;
        fail("format() has no argument '" + std::string(name.substr(0, 40)) + "'");
    }

    enum class Numbering { unknown, automatic, manual };

    Machine& machine_;
    const MarkedString& format_;
    const Arguments& arguments_;
    Builder out_;
    std::size_t next_ = 0;
    Numbering numbering_ = Numbering::unknown;
};

}  // namespace

Value format_percent(Machine& machine, const Value& format, const Value& values) {
    return PercentFormat(machine, ValueAccess::text(format), values).run();
}

Value format_braces(Machine& machine, const Value& format, const Arguments& arguments) {
    return BracesFormat(machine, ValueAccess::text(format), arguments).run();
}

}  // namespace hearth::chat
