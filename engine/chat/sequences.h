// What the filters on sequences share: attribute paths and sort keys.
#pragma once

#include <string>
#include <vector>

#include "engine/chat/value.h"

namespace hearth::chat {

class Machine;
class Bound;

// The parts of "a.b.0": names, and numbers for positions. An undefined or None attribute has no
// parts.
using AttributePath = std::vector<Value>;
AttributePath attribute_path(Machine& machine, const Value* attribute);
// item[part][part]…; `fallback` (may be null) where that is undefined.
Value follow(Machine& machine, Value item, const AttributePath& path, const Value* fallback);
// Strings in lower case, everything else as it is.
Value without_case(Machine& machine, const Value& value);

}  // namespace hearth::chat
