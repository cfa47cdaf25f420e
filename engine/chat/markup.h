// Text that the template called safe (`|safe`, `|escape`). Nothing is escaped on output, but as in
// Python's Markup class, whatever is joined to such text by an operator or one of its methods is
// escaped for HTML first.
#pragma once

#include "engine/chat/arguments.h"
#include "engine/chat/methods.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

// `value` escaped and safe; what is safe already stays as it is.
Value escape_markup(Machine& machine, const Value& value);
// Joins two strings of which at least one is safe.
Value add_markup(Machine& machine, const Value& a, const Value& b);
// A method of a string that is safe.
Value call_markup_method(Machine& machine, const Value& self, const Method& method,
                         const Arguments& arguments);
// format % values, where the format is safe.
Value format_markup(Machine& machine, const Value& format, const Value& values);

}  // namespace hearth::chat
