// Filters on sequences, maps and numbers, by name; the table is in functions.cpp.
#pragma once

#include "engine/chat/value.h"

namespace hearth::chat {
class Machine;
struct Arguments;
}  // namespace hearth::chat

namespace hearth::chat::filters {

Value abs(Machine& machine, const Value& input, const Arguments& arguments);
Value attr(Machine& machine, const Value& input, const Arguments& arguments);
Value batch(Machine& machine, const Value& input, const Arguments& arguments);
Value default_(Machine& machine, const Value& input, const Arguments& arguments);
Value dictsort(Machine& machine, const Value& input, const Arguments& arguments);
Value first(Machine& machine, const Value& input, const Arguments& arguments);
Value int_(Machine& machine, const Value& input, const Arguments& arguments);
Value float_(Machine& machine, const Value& input, const Arguments& arguments);
Value items(Machine& machine, const Value& input, const Arguments& arguments);
Value join(Machine& machine, const Value& input, const Arguments& arguments);
Value last(Machine& machine, const Value& input, const Arguments& arguments);
Value length(Machine& machine, const Value& input, const Arguments& arguments);
Value list(Machine& machine, const Value& input, const Arguments& arguments);
Value map(Machine& machine, const Value& input, const Arguments& arguments);
Value max(Machine& machine, const Value& input, const Arguments& arguments);
Value min(Machine& machine, const Value& input, const Arguments& arguments);
Value reject(Machine& machine, const Value& input, const Arguments& arguments);
Value rejectattr(Machine& machine, const Value& input, const Arguments& arguments);
Value reverse(Machine& machine, const Value& input, const Arguments& arguments);
Value round(Machine& machine, const Value& input, const Arguments& arguments);
Value select(Machine& machine, const Value& input, const Arguments& arguments);
Value selectattr(Machine& machine, const Value& input, const Arguments& arguments);
Value slice(Machine& machine, const Value& input, const Arguments& arguments);
Value sort(Machine& machine, const Value& input, const Arguments& arguments);
Value sum(Machine& machine, const Value& input, const Arguments& arguments);
Value unique(Machine& machine, const Value& input, const Arguments& arguments);

}  // namespace hearth::chat::filters
