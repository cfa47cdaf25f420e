// JSON files as the tests need them: parsed, and turned into Values as a host does.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "engine/chat/value.h"

namespace hearth::chat {

// Empty when the file cannot be read.
std::string read_file(const std::string& path);
boost::json::value parse_json(const std::string& text);
// All foreign.
Value to_value(const boost::json::value& json);

}  // namespace hearth::chat
