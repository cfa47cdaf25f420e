// Lists of objects; not for other folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ipc/protocol/fields.h"

namespace hearth::protocol {

// Each object of a list, read with `read`; nothing when the list is absent.
template <typename Read>
auto read_list(Fields& fields, std::string_view name, Read read) {
    std::vector<decltype(read(fields))> out;
    const json::array* list = fields.array(name);
    if (list == nullptr) return out;
    for (const json::value& value : *list) {
        const json::object* object = value.if_object();
        if (object == nullptr) {
            fields.fail(fields.path_of(name),
                        "an entry of '" + std::string(name) + "' is not an object");
            return out;
        }
        Fields reader(*object, fields.path_of(name));
        out.push_back(read(reader));
        fields.adopt(reader);
    }
    return out;
}

}  // namespace hearth::protocol
