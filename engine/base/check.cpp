#include "engine/base/check.h"

#include <cstdlib>
#include <string>

#include "engine/base/log.h"

namespace hearth {

void check_failed(const char* condition, const char* file, int line) {
    log(LogLevel::error,
        std::string("check failed: ") + condition + " (" + file + ":" + std::to_string(line) + ")");
    std::abort();
}

}  // namespace hearth
