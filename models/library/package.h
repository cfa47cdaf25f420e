// A package: a model as files on disk, and what was found in them when it was imported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::library {

// Tells that a file is still the one that was imported, without reading it.
struct FileIdentity {
    std::uint64_t size = 0;     // bytes
    std::int64_t mtime_ns = 0;  // since 1970

    bool operator==(const FileIdentity&) const = default;
};

struct PackageFile {
    std::string path;  // absolute
    FileIdentity identity;
    std::string sha256;     // 64 hex digits
    bool in_place = false;  // not ours: never deleted
};

struct Package {
    std::string id;          // ids.h
    std::string name;        // for people
    std::int64_t added = 0;  // seconds since 1970
    std::string kind;        // "model", "vocabulary", "projector", "adapter"
    std::string architecture;
    std::string quantization;
    int context = 0;  // tokens it was trained for
    std::uint64_t parameters = 0;
    bool has_chat_template = false;
    std::string unsupported;         // why the build that looked into it cannot run it
    std::string inspected_by;        // that build
    std::vector<PackageFile> files;  // at least one; the first is the one to load
};

}  // namespace hearth::library
