// Parts of requests that several files of this folder read; not for other folders.
#pragma once

#include "ipc/protocol/chat.h"

namespace hearth::protocol {

GenerationOptions read_options(Fields& fields);
void write_options(const GenerationOptions& options, json::object& out);

// Checks messages and brings them into the form that templates expect: content that came as text
// parts is joined by line ends, tool-call arguments that are JSON text become objects.
json::array read_messages(Fields& fields);

// A list of token ids, each from 0 to 2^31 - 1.
std::vector<std::int32_t> read_ids(const json::array& list, const std::string& path,
                                   Fields& fields);

}  // namespace hearth::protocol
