// Asks `hearth-worker tool inspect` about a model file: hearthd itself never parses one. The child
// is sandboxed, has a time limit and an output limit.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/base/result.h"

namespace hearth::supervise {

struct FileFacts {
    std::string kind;  // "model", "vocabulary", "projector", "adapter"
    std::string architecture;
    std::string name;
    std::string quantization;
    int context = 0;  // trained
    std::uint64_t parameters = 0;
    std::uint64_t tensors = 0;
    std::uint64_t size = 0;  // bytes of the file
    bool has_chat_template = false;
    std::string unsupported;  // why this build cannot run it; empty when it can
};

struct InspectOptions {
    std::string worker_path;  // empty: hearth-worker beside our own executable
    std::chrono::milliseconds time_limit{30'000};
};

// The error is what the engine found (unsupported_format, model_corrupt, …), or the child itself:
// worker_died, timed_out.
void inspect(boost::asio::io_context& io, const std::string& path, const InspectOptions& options,
             std::function<void(Result<FileFacts>)> done);

// The path of hearth-worker beside /proc/self/exe, or `configured` when that is not empty.
std::string worker_program(const std::string& configured);

}  // namespace hearth::supervise
