#include "models/library/recover.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "models/library/ids.h"

namespace hearth::library {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".gguf";

// The database may have been tampered with: a name that could be a path is none of ours.
bool is_our_name(const std::string& name) {
    return name.ends_with(kEnding) && is_valid_id(name.substr(0, name.size() - kEnding.size()));
}

Result<std::vector<std::string>> paths_in(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code problem;
    fs::directory_iterator entries(folder, problem);
    for (; !problem && entries != fs::directory_iterator(); entries.increment(problem))
        paths.push_back(entries->path().string());
    if (problem) return file_error(folder, "read", problem.value());
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

std::string file_name_for(const std::string& id) { return id + std::string(kEnding); }

Result<void> discard(FileSystem& files, const Folders& folders, const std::string& name) {
    if (!is_our_name(name)) return {};
    for (const std::string& folder : {folders.partial, folders.models}) {
        const std::string path = folder + "/" + name;
        const int gone = files.unlink(path);
        if (gone < 0 && gone != -ENOENT) return file_error(path, "deleted", -gone);
        if (gone == 0) HEARTH_TRY_VOID(sync_folder(files, folder));
    }
    return {};
}

Result<Recovered> recover(FileSystem& files, const Folders& folders,
                          const std::vector<Package>& packages,
                          const std::vector<std::string>& leftovers) {
    std::set<std::string> owned;
    for (const Package& package : packages)
        for (const PackageFile& file : package.files) owned.insert(file.path);
    Recovered found;
    for (const std::string& name : leftovers) {
        found.settled.push_back(name);
        if (!is_our_name(name)) continue;
        for (const std::string& folder : {folders.partial, folders.models}) {
            const std::string path = folder + "/" + name;
            if (owned.contains(path)) continue;
            const int gone = files.unlink(path);
            if (gone == 0)
                found.deleted.push_back(path);
            else if (gone != -ENOENT)
                return file_error(path, "deleted", -gone);
        }
    }
    // Before the names are forgotten, so that no file comes back without its note.
    for (const std::string& folder : {folders.partial, folders.models}) {
        if (!found.deleted.empty()) HEARTH_TRY_VOID(sync_folder(files, folder));
        HEARTH_TRY(const std::vector<std::string> paths, paths_in(folder));
        for (const std::string& path : paths)
            if (!owned.contains(path)) found.strangers.push_back(path);
    }
    return found;
}

}  // namespace hearth::library
