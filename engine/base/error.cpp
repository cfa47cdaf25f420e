#include "engine/base/error.h"

#include <array>
#include <utility>

namespace hearth {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 27> kNames = {{
    {ErrorCode::bad_input, "bad_input"},
    {ErrorCode::not_found, "not_found"},
    {ErrorCode::busy, "busy"},
    {ErrorCode::forbidden, "forbidden"},
    {ErrorCode::too_large, "too_large"},
    {ErrorCode::no_memory, "no_memory"},
    {ErrorCode::disk_full, "disk_full"},
    {ErrorCode::io_failed, "io_failed"},
    {ErrorCode::storage_damaged, "storage_damaged"},
    {ErrorCode::unsupported_format, "unsupported_format"},
    {ErrorCode::unsupported_version, "unsupported_version"},
    {ErrorCode::unsupported_model, "unsupported_model"},
    {ErrorCode::model_corrupt, "model_corrupt"},
    {ErrorCode::model_invalid, "model_invalid"},
    {ErrorCode::context_exceeded, "context_exceeded"},
    {ErrorCode::numeric_error, "numeric_error"},
    {ErrorCode::template_failed, "template_failed"},
    {ErrorCode::template_too_deep, "template_too_deep"},
    {ErrorCode::budget_exceeded, "budget_exceeded"},
    {ErrorCode::invalid_utf8, "invalid_utf8"},
    {ErrorCode::device_failed, "device_failed"},
    {ErrorCode::worker_died, "worker_died"},
    {ErrorCode::quarantined, "quarantined"},
    {ErrorCode::shutting_down, "shutting_down"},
    {ErrorCode::timed_out, "timed_out"},
    {ErrorCode::cancelled, "cancelled"},
    {ErrorCode::internal, "internal"},
}};

}  // namespace

std::string_view to_string(ErrorCode code) {
    for (const auto& [value, name] : kNames)
        if (value == code) return name;
    return "internal";
}

ErrorCode error_code_from_string(std::string_view name) {
    for (const auto& [value, text] : kNames)
        if (text == name) return value;
    return ErrorCode::internal;
}

}  // namespace hearth
