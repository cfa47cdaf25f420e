#include "models/library/library.h"

#include <algorithm>

namespace hearth::library {
namespace {

bool by_id(const Package& a, const Package& b) { return a.id < b.id; }

}  // namespace

void Library::assign(std::vector<Package> packages) {
    packages_ = std::move(packages);
    std::sort(packages_.begin(), packages_.end(), by_id);
}

void Library::add(Package package) {
    const auto place = std::lower_bound(packages_.begin(), packages_.end(), package, by_id);
    packages_.insert(place, std::move(package));
}

void Library::remove(const std::string& id) {
    std::erase_if(packages_, [&](const Package& package) { return package.id == id; });
}

void Library::replace(const Package& package) {
    for (Package& known : packages_)
        if (known.id == package.id) known = package;
}

const Package* Library::find(std::string_view id) const {
    for (const Package& package : packages_)
        if (package.id == id) return &package;
    return nullptr;
}

const Package* Library::find_content(std::string_view sha256) const {
    for (const Package& package : packages_)
        if (package.files.front().sha256 == sha256) return &package;
    return nullptr;
}

const Package* Library::fallback() const {
    if (const Package* chosen = find(fallback_)) return chosen;
    const Package* only = nullptr;
    for (const Package& package : packages_) {
        if (package.kind != "model") continue;
        if (only != nullptr) return nullptr;
        only = &package;
    }
    return only;
}

Result<const Package*> Library::resolve(std::string_view wanted) const {
    if (packages_.empty())
        return Error{ErrorCode::not_found,
                     "no model is installed; import one with `hearth import FILE.gguf`"};
    if (wanted.empty() || wanted == "default") {
        if (const Package* package = fallback()) return package;
        return Error{
            ErrorCode::not_found,
            "several models are installed and none is the default; name one of: " + list_of_ids()};
    }
    if (const Package* package = find(wanted)) return package;
    const Package* only = nullptr;
    int matches = 0;
    for (const Package& package : packages_)
        if (package.id.starts_with(wanted)) {
            only = &package;
            ++matches;
        }
    if (matches == 1) return only;
    const std::string problem = matches > 1 ? "' fits several models" : "' is not installed";
    return Error{ErrorCode::not_found, "the model '" + std::string(wanted.substr(0, 200)) +
                                           problem + "; there is: " + list_of_ids()};
}

std::string Library::list_of_ids() const {
    constexpr std::size_t kShown = 20;
    std::string list;
    for (std::size_t i = 0; i < packages_.size() && i < kShown; ++i)
        list += (i == 0 ? "" : ", ") + packages_[i].id;
    if (packages_.size() > kShown)
        list += " and " + std::to_string(packages_.size() - kShown) + " more";
    return list;
}

}  // namespace hearth::library
