// Dates as strftime of the C locale writes them; the time is the host's.
#pragma once

#include "engine/chat/template.h"
#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;

// Throws for a directive that needs a time zone or is unknown.
Value format_time(Machine& machine, const Value& format, const LocalTime& time);

}  // namespace hearth::chat
