// The tables of filters, tests and global functions.
#pragma once

#include <string_view>

#include "engine/chat/tree.h"

namespace hearth::chat {

// Null when there is none of that name.
Function find_filter(std::string_view name);
Function find_test(std::string_view name);

struct NamedFunction {
    std::string_view name;
    Function function;
};

// A global function (range, namespace, raise_exception, …); its input is undefined.
const NamedFunction* find_global(std::string_view name);

}  // namespace hearth::chat
