// Finds function definitions in formatted C++ well enough for limits on length and parameters.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace hearth::tidy {

struct Function {
    std::string name;
    std::size_t first_line;  // index of the line with the opening brace's statement
    int lines;               // from the first line of the signature to the closing brace
    int parameters;
};

std::vector<Function> functions_of(const SourceFile& file);

}  // namespace hearth::tidy
