// Values as text: str(), repr() and JSON, as Python writes them. Strings keep the origin of their
// bytes; what is written around them is foreign, so that it can never be part of a control token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/chat/builder.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

void print(Machine& machine, const Value& value, Builder& out);
void print_repr(Machine& machine, const Value& value, Builder& out);
// str(value); strings come back as they are.
Value to_string(Machine& machine, const Value& value);
// For messages; plain bytes, cut after `limit`.
std::string short_repr(const Value& value, std::size_t limit = 60);

// repr of a float: the shortest digits that read back equal.
std::string real_repr(double real);

struct JsonStyle {
    bool ascii = false;
    std::optional<std::string> indent;  // of one level; empty: one line
    std::string item_separator = ", ";
    std::string key_separator = ": ";
    bool sort_keys = false;
};
void print_json(Machine& machine, const Value& value, const JsonStyle& style, Builder& out);

}  // namespace hearth::chat
