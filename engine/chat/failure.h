// How the template engine fails inside this folder: one exception type, turned into an Error by
// Template::parse and Template::render. Exceptions, because every expression can fail and deep
// evaluation reads better without a test after each call.
#pragma once

#include <string>
#include <utility>

#include "engine/base/error.h"

namespace hearth::chat {

struct Failure {
    ErrorCode code;
    std::string message;
    int line = 0;  // 0: whoever catches it knows the line
};

[[noreturn]] inline void fail(std::string message) {
    throw Failure{ErrorCode::template_failed, std::move(message)};
}

}  // namespace hearth::chat
