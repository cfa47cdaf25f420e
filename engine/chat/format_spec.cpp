// Formatting of single values; see format_spec.h.
#include "engine/chat/format_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/chat/characters.h"
#include "engine/chat/machine.h"
#include "engine/chat/numbers.h"
#include "engine/chat/operators.h"
#include "engine/chat/print.h"

namespace hearth::chat {
namespace {

constexpr std::int64_t kMostWidth = 1 << 24;
constexpr int kMostPrecision = 100;

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::int64_t take_number(std::string_view& text) {
    std::int64_t number = 0;
    while (!text.empty() && is_digit(text[0])) {
        number = std::min(number * 10 + (text[0] - '0'), kMostWidth);
        text.remove_prefix(1);
    }
    return number;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}

std::string grouped(std::string digits, char group, std::size_t every) {
    if (group == '\0') return digits;
    const std::size_t whole =
        std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
    for (std::size_t at = whole; at > every; at -= every) digits.insert(at - every, 1, group);
    return digits;
}

// Digits of |value| in the base of `type`, with its prefix when asked for.
std::string whole_digits(std::int64_t value, const FormatSpec& spec) {
    const char lower = static_cast<char>(spec.type | 0x20);
    const int base = lower == 'x' ? 16 : lower == 'o' ? 8 : lower == 'b' ? 2 : 10;
    const auto magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                     : static_cast<std::uint64_t>(value);
    std::array<char, 64> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, base);
    std::string digits(buffer.data(), written.ptr);
    if (spec.type == 'X')
        std::transform(digits.begin(), digits.end(), digits.begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
        });
    digits = grouped(std::move(digits), spec.group, base == 10 ? 3 : 4);
    if (spec.is_alternate && base != 10) digits = std::string{'0', spec.type} + digits;
    return digits;
}

std::string to_text(double magnitude, std::chars_format format, int precision) {
    std::array<char, 420> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format, precision);
    return {buffer.data(), written.ptr};
}

std::string real_digits(double magnitude, const FormatSpec& spec) {
    if (!std::isfinite(magnitude)) return std::isnan(magnitude) ? "nan" : "inf";
    const int precision = std::min(spec.precision.value_or(6), kMostPrecision);
    switch (spec.type) {
        case 'f':
        case 'F':
            return grouped(fixed(magnitude, precision), spec.group, 3);
        case '%':
            return fixed(magnitude * 100, precision) + "%";
        case 'e':
        case 'E':
            return to_text(magnitude, std::chars_format::scientific, precision);
        case 'g':
        case 'G':
        case 'n':
            return grouped(to_text(magnitude, std::chars_format::general, std::max(precision, 1)),
                           spec.group, 3);
        default:
            break;
    }
    if (!spec.precision) return grouped(real_repr(magnitude), spec.group, 3);
    std::string text = to_text(magnitude, std::chars_format::general, std::max(precision, 1));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return grouped(std::move(text), spec.group, 3);
}

// `trusted` is the flag of the digits; what fills is foreign.
void append_padded(const MarkedString& prefix, const MarkedString& body, const FormatSpec& spec,
                   char own_align, Builder& out) {
    const auto length =
        static_cast<std::int64_t>(count_characters(prefix.view()) + count_characters(body.view()));
    const std::int64_t missing = std::max<std::int64_t>(spec.width - length, 0);
    const char align = spec.align == '\0' ? own_align : spec.align;
    const std::int64_t left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    const std::int64_t inner = align == '=' ? missing : 0;
    const auto fill = [&](std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) out.append(spec.fill, false);
    };
    fill(left);
    out.append(prefix);
    fill(inner);
    out.append(body);
    fill(missing - left - inner);
}

void append_number(const Value& value, const FormatSpec& spec, Builder& out) {
    const bool trusted = ValueAccess::is_trusted(value);
    constexpr std::string_view kRealTypes = "eEfFgG%";
    const bool as_real =
        value.kind() == Kind::real ||
        (spec.type != '\0' && kRealTypes.find(spec.type) != std::string_view::npos);
    std::string digits;
    bool is_negative = false;
    if (as_real) {
        const double real = to_real(value);
        is_negative = std::signbit(real) && !std::isnan(real);
        digits = real_digits(std::fabs(real), spec);
    } else {
        is_negative = ValueAccess::integer(value) < 0;
        digits = whole_digits(ValueAccess::integer(value), spec);
    }
    const std::string sign = is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
    append_padded({sign, trusted}, {digits, trusted}, spec, '>', out);
}

bool is_text_type(char type) { return type == '\0' || type == 's'; }

}  // namespace

FormatSpec parse_format_spec(std::string_view text) {
    FormatSpec spec;
    const std::string whole(text.substr(0, 40));
    if (!text.empty()) {
        const std::size_t first = character_at(text, 0).length;
        if (text.size() > first && is_align(text[first])) {
            spec.fill = text.substr(0, first);
            spec.align = text[first];
            text.remove_prefix(first + 1);
        } else if (is_align(text[0])) {
            spec.align = text[0];
            text.remove_prefix(1);
        }
    }
    for (const char sign : {'+', '-', ' '})
        if (take(text, sign)) spec.sign = sign;
    spec.is_alternate = take(text, '#');
    if (take(text, '0') && spec.align == '\0') {
        spec.fill = "0";
        spec.align = '=';
    }
    spec.width = take_number(text);
    if (take(text, ',')) spec.group = ',';
    if (take(text, '_')) spec.group = '_';
    if (take(text, '.')) {
        if (text.empty() || !is_digit(text[0])) fail("Format specifier missing precision");
        spec.precision = static_cast<int>(take_number(text));
    }
    constexpr std::string_view kTypes = "bcdeEfFgGnosxX%";
    if (!text.empty() && kTypes.find(text[0]) != std::string_view::npos) {
        spec.type = text[0];
        text.remove_prefix(1);
    }
    if (!text.empty()) fail("invalid format specifier '" + whole + "'");
    return spec;
}

void append_formatted(Machine& machine, const Value& value, const FormatSpec& spec, Builder& out) {
    machine.budget().work(static_cast<std::size_t>(spec.width));
    const bool is_text_boolean = value.kind() == Kind::boolean && is_text_type(spec.type);
    if (is_number(value) && !is_text_boolean) {
        if (spec.type == 's')
            fail("unknown format code 's' for object of type '" + type_name(value) + "'");
        if (spec.type == 'c') {
            std::string character;
            if (!is_whole(value) || ValueAccess::integer(value) < 0 ||
                ValueAccess::integer(value) > 0x10ffff)
                fail("%c arg not in range(0x110000)");
            append_character(character, static_cast<std::int32_t>(ValueAccess::integer(value)));
            return append_padded({}, {character, ValueAccess::is_trusted(value)}, spec, '<', out);
        }
        constexpr std::string_view kWholeTypes = "bdoxX";
        if (value.kind() == Kind::real && spec.type != '\0' &&
            kWholeTypes.find(spec.type) != std::string_view::npos)
            fail("unknown format code for object of type 'float'");
        return append_number(value, spec, out);
    }
    if (!is_text_type(spec.type) || spec.align == '=')
        fail("unknown format code for object of type '" + type_name(value) + "'");
    const Value text_value = to_string(machine, value);
    const MarkedString& text = ValueAccess::text(text_value);
    std::size_t end = text.size();
    if (spec.precision)
        end = byte_of_character(text.view(), static_cast<std::size_t>(*spec.precision));
    append_padded({}, text.slice(0, end), spec, '<', out);
}

}  // namespace hearth::chat
