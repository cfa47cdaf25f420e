// Filters on text, by name; the table is in functions.cpp.
#pragma once

#include "engine/chat/value.h"

namespace hearth::chat {
class Machine;
struct Arguments;
}  // namespace hearth::chat

namespace hearth::chat::filters {

Value capitalize(Machine& machine, const Value& input, const Arguments& arguments);
Value center(Machine& machine, const Value& input, const Arguments& arguments);
Value escape(Machine& machine, const Value& input, const Arguments& arguments);
Value forceescape(Machine& machine, const Value& input, const Arguments& arguments);
Value format(Machine& machine, const Value& input, const Arguments& arguments);
Value indent(Machine& machine, const Value& input, const Arguments& arguments);
Value lower(Machine& machine, const Value& input, const Arguments& arguments);
Value replace(Machine& machine, const Value& input, const Arguments& arguments);
Value safe(Machine& machine, const Value& input, const Arguments& arguments);
Value string(Machine& machine, const Value& input, const Arguments& arguments);
Value title(Machine& machine, const Value& input, const Arguments& arguments);
Value tojson(Machine& machine, const Value& input, const Arguments& arguments);
Value trim(Machine& machine, const Value& input, const Arguments& arguments);
Value truncate(Machine& machine, const Value& input, const Arguments& arguments);
Value upper(Machine& machine, const Value& input, const Arguments& arguments);
Value wordcount(Machine& machine, const Value& input, const Arguments& arguments);

}  // namespace hearth::chat::filters
