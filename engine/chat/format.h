// Python's two ways to format: "%s" % values and "{}".format(…).
#pragma once

#include "engine/chat/arguments.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

// format % values; a tuple gives several values, an object gives names.
Value format_percent(Machine& machine, const Value& format, const Value& values);
// format.format(…).
Value format_braces(Machine& machine, const Value& format, const Arguments& arguments);

}  // namespace hearth::chat
