// The only error type. ErrorCode is for programs (its name travels over the socket), message for
// people: what failed, on what, and what to try.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

enum class ErrorCode : std::uint8_t {
    bad_input,            // a request or argument that cannot be carried out
    not_found,            // a model, file or route that is not there
    busy,                 // a queue is full; trying again later helps
    forbidden,            // the caller may not do this
    too_large,            // a body, prompt part or count over its stated limit
    no_memory,            // an allocation or a budget of device memory failed
    disk_full,            // no space or no quota is left
    io_failed,            // reading or writing a file or socket failed
    storage_damaged,      // our own database is not what we wrote
    unsupported_format,   // not a file of a kind we read
    unsupported_version,  // a kind we read, in a version we do not
    unsupported_model,    // a sound file with an architecture, tokenizer or type we do not run
    model_corrupt,        // a model file whose structure is broken
    model_invalid,        // a model file whose values contradict each other or are out of range
    context_exceeded,     // the prompt is longer than the context; the message has both numbers
    numeric_error,        // NaN or infinity where a number was due
    template_failed,      // a chat template that does not parse or raised an error
    template_too_deep,    // a chat template nested deeper than the budget
    budget_exceeded,      // a step, size or time budget ran out
    invalid_utf8,         // text that is not UTF-8
    device_failed,        // the device or its driver failed
    worker_died,          // the process that held the model ended
    quarantined,          // a model that is not loaded again until somebody asks by force
    shutting_down,        // the daemon is stopping
    timed_out,            // a deadline passed
    cancelled,            // the caller is gone; never logged as an error
    internal,             // our bug
};

std::string_view to_string(ErrorCode code);
// Unknown names give ErrorCode::internal: a peer may be newer than we are.
ErrorCode error_code_from_string(std::string_view name);

struct Error {
    ErrorCode code;
    std::string message;
};

}  // namespace hearth
