// What GET /hearth/v1/events sends: first a snapshot, then numbered changes, each an event with one
// of these names. Numbers rise by one and never start again, not even with another daemon.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/protocol/library.h"
#include "ipc/protocol/status.h"

namespace hearth::protocol {

namespace events {
constexpr std::string_view kSnapshot = "snapshot";                     // Snapshot
constexpr std::string_view kModelAdded = "model_added";                // ModelEntry
constexpr std::string_view kModelRemoved = "model_removed";            // {"id"}
constexpr std::string_view kDefaultChanged = "default_changed";        // {"id"}, null: none
constexpr std::string_view kModelState = "model_state";                // LoadedModel, or "gone"
constexpr std::string_view kGenerationStarted = "generation_started";  // GenerationInfo
constexpr std::string_view kFirstToken = "generation_first_token";     // GenerationInfo
constexpr std::string_view kGenerationEnded = "generation_ended";      // GenerationInfo
constexpr std::string_view kImportStarted = "import_started";          // ImportInfo
constexpr std::string_view kImportEnded = "import_ended";              // ImportInfo
constexpr std::string_view kMetrics = "metrics";                       // MetricsSample, no number
constexpr std::string_view kStopping = "stopping";                     // {}
}  // namespace events

// Never a word of prompt or reply.
struct GenerationInfo {
    std::uint64_t generation = 0;
    std::string model;
    std::string client;    // as the request names itself
    std::string priority;  // "interactive", "api", "background"
    std::string state;     // "waiting", "running", "stop", "length", "cancelled", "failed"
    std::string error;     // code, when failed
    int prompt_tokens = 0;
    int cached_tokens = 0;
    int generated_tokens = 0;
    double age_ms = 0;  // since the request
    double first_token_ms = 0;
    double queue_ms = 0;  // from here on: when it has ended
    double prompt_ms = 0;
    double generation_ms = 0;
};

struct ImportInfo {
    std::uint64_t import = 0;
    std::string file;   // name without folders
    std::string model;  // id, when it has come in
    std::string error;  // code, when it has not
};

// Everything that an application needs to draw itself.
struct Snapshot {
    Status status;
    std::vector<ModelEntry> models;  // installed ones
    std::vector<GenerationInfo> generations;
    std::vector<ImportInfo> imports;
};

json::object to_json(const GenerationInfo& info);
GenerationInfo read_generation_info(Fields& fields);
json::object to_json(const ImportInfo& info);
ImportInfo read_import_info(Fields& fields);
json::object to_json(const Snapshot& snapshot);
Snapshot read_snapshot(Fields& fields);

}  // namespace hearth::protocol
