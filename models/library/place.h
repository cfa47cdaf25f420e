// The file work of an import: hash, then put in place so that a power cut leaves either nothing or
// the whole file. Blocking and long: runs on thread "hearth-jobs".
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/base/file_system.h"
#include "models/library/file_identity.h"
#include "models/library/package.h"

namespace hearth::library {

enum class Placement : std::uint8_t {
    automatic,  // hard link where possible, else reflink, else copy
    copy,       // reflink where possible, else copy
    hardlink,
    in_place,
};

struct Folders {
    std::string models;   // where files come to lie
    std::string partial;  // where copies grow; on the same file system
};

// An open source file and what was found in it.
struct HashedFile {
    Descriptor descriptor;
    PackageFile file;  // as it lies at its source
};

struct Placed {
    PackageFile file;
    std::string how;  // "hardlink", "reflink", "copy", "in_place"
};

struct PlaceRequest {
    Placement placement = Placement::automatic;
    Folders folders;
    std::string file_name;
};

// Reads the whole file. cancelled when `stop` becomes true; io_failed when it changes meanwhile.
Result<HashedFile> hash_file(FileSystem& files, const std::string& path,
                             const std::atomic<bool>& stop);

// Puts the file into folders.models as `file_name`, replacing a left-over of that name. On return
// the file and its name are on disk; after an error neither is there. Order: write, fsync, rename,
// fsync of the folder. disk_full, with both figures, before anything is written.
Result<Placed> place_file(FileSystem& files, const HashedFile& source, const PlaceRequest& request,
                          const std::atomic<bool>& stop);

// Makes both folders (0700, ours).
Result<void> make_folders(const Folders& folders);

// Deletes the package's own files; those used in place stay. On return their names are gone from
// the disk, too.
Result<void> delete_files(FileSystem& files, const Package& package);

}  // namespace hearth::library
