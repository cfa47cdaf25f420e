// What the tools share.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>

#include "engine/base/error.h"
#include "engine/base/mapped_file.h"
#include "engine/base/result.h"

namespace hearth::worker {

// Prints "hearth: <message>" on the error stream; the exit code of a failed tool.
int fail(const Error& error);

// Opens the file and then enters the sandbox: what parses it cannot open another.
Result<MappedFile> open_confined(const std::string& path);

// A whole file, or the standard input for "". too_large over 256 MiB.
Result<std::string> read_text(const std::string& path);

// bad_input naming `path` when it is not JSON.
Result<boost::json::value> parse_json(const std::string& text, const std::string& path);

// Prints the text as it is. False, with an error line, when the output is closed.
bool print(const std::string& text);

}  // namespace hearth::worker
