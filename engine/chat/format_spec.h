// How one value is formatted: what stands behind the colon in "{:>8.2f}", or between % and the
// letter in "%8.2f".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/chat/builder.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

struct FormatSpec {
    std::string fill = " ";  // one character
    char align = '\0';       // '<', '>', '^', '=', or none given
    char sign = '-';         // '+', '-', ' '
    bool is_alternate = false;
    char group = '\0';  // ',' or '_' between thousands
    std::int64_t width = 0;
    std::optional<int> precision;
    char type = '\0';
};

// Parses the mini-language of format(); throws for what it does not know.
FormatSpec parse_format_spec(std::string_view text);
// format(value, spec): `value` is a number, a string or a boolean.
void append_formatted(Machine& machine, const Value& value, const FormatSpec& spec, Builder& out);

}  // namespace hearth::chat
