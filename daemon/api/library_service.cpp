#include "daemon/api/library_service.h"

#include <chrono>

#include "engine/base/log.h"
#include "models/library/ids.h"
#include "models/library/recover.h"

namespace hearth::api {
namespace {

constexpr std::size_t kMaxImportsWaiting = 64;
constexpr const char* kDefaultModel = "default_model";

// shared_ptr: handed from callback to callback, one owner at a time; std::function wants copies.
using SharedHashed = std::shared_ptr<library::HashedFile>;

std::string file_stem(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".gguf")) name.resize(name.size() - 5);
    return name;
}

std::int64_t seconds_since_1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

void set_facts(library::Package& package, const supervise::FileFacts& facts,
               const std::string& build) {
    package.kind = facts.kind;
    package.architecture = facts.architecture;
    package.quantization = facts.quantization;
    package.context = facts.context;
    package.parameters = facts.parameters;
    package.has_chat_template = facts.has_chat_template;
    package.unsupported = facts.unsupported;
    package.inspected_by = build;
}

}  // namespace

LibraryService::LibraryService(store::Store& store, store::TaskThread& jobs, Options options)
    : store_(store), jobs_(jobs), options_(std::move(options)) {
    library_.assign(store.contents_at_start().packages);
    const auto& settings = store.contents_at_start().settings;
    if (const auto found = settings.find(kDefaultModel); found != settings.end())
        library_.set_fallback(found->second);
}

void LibraryService::import_model(Import request, OnImported done) {
    if (stop_) return done(Error{ErrorCode::shutting_down, "the daemon is stopping"});
    if (imports_.size() >= kMaxImportsWaiting)
        return done(Error{ErrorCode::busy, "too many imports are waiting"});
    imports_.push_back({std::move(request), std::move(done), {}, false});
    if (imports_.size() == 1) next_import();
}

void LibraryService::adopt(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        const std::string stem = file_stem(path);
        if (!library::is_valid_id(stem) ||
            path != options_.folders.models + "/" + library::file_name_for(stem))
            continue;
        Import request{path, stem, library::Placement::in_place};
        const OnImported done = [path](const Result<Imported>& imported) {
            if (imported)
                log(LogLevel::info, path + " is in the list of models again");
            else
                log(LogLevel::warning, path + " is no model: " + imported.error().message);
        };
        imports_.push_back({std::move(request), done, {}, true});
        if (imports_.size() == 1) next_import();
    }
}

void LibraryService::next_import() {
    ++import_;
    if (watcher_ != nullptr) watcher_->on_import_started(import_, imports_.front().request.path);
    options_.inspect(imports_.front().request.path,
                     lifeline_.guard([this](Result<supervise::FileFacts> facts) {
                         on_facts(std::move(facts));
                     }));
}

void LibraryService::on_facts(Result<supervise::FileFacts> facts) {
    if (!facts) return finish_import(std::move(facts).error());
    imports_.front().facts = *std::move(facts);
    const auto hash = [path = imports_.front().request.path, this]() -> Result<SharedHashed> {
        HEARTH_TRY(library::HashedFile hashed, library::hash_file(*options_.files, path, stop_));
        return std::make_shared<library::HashedFile>(std::move(hashed));
    };
    jobs_.run<SharedHashed>(hash, lifeline_.guard([this](Result<SharedHashed> hashed) {
        on_hashed(std::move(hashed));
    }));
}

void LibraryService::on_hashed(Result<SharedHashed> hashed) {
    if (!hashed) return finish_import(std::move(hashed).error());
    const library::Package* known = library_.find_content((*hashed)->file.sha256);
    if (known != nullptr && library::complaint_about(*known).empty())
        return finish_import(Imported{*known, true, {}});
    const Job& job = imports_.front();
    library::Package package = describe(job);
    if (job.adopts) {
        library::Placed found{(*hashed)->file, "found"};
        found.file.in_place = false;
        return on_placed(std::move(package), std::move(found));
    }
    if (job.request.placement == library::Placement::in_place)
        return place(std::move(package), *std::move(hashed));
    const std::string name = library::file_name_for(package.id);
    store_.add_leftover(
        name,
        lifeline_.guard([this, package, source = *std::move(hashed)](const Result<void>& noted) {
            if (!noted) return finish_import(noted.error());
            place(package, source);
        }));
}

void LibraryService::place(library::Package package, SharedHashed source) {
    const library::PlaceRequest request{imports_.front().request.placement, options_.folders,
                                        library::file_name_for(package.id)};
    jobs_.run<library::Placed>(
        [this, source = std::move(source), request] {
            return library::place_file(*options_.files, *source, request, stop_);
        },
        lifeline_.guard([this, package = std::move(package)](Result<library::Placed> placed) {
            on_placed(package, std::move(placed));
        }));
}

library::Package LibraryService::describe(const Job& job) const {
    library::Package package;
    package.name = job.request.name;
    // People know the file by its name; the name inside is often that of a training run.
    if (package.name.empty()) package.name = file_stem(job.request.path);
    std::string id = library::id_from_name(package.name);
    // The same model in another precision is another package; its id says which.
    const std::string precision = library::id_from_name(job.facts.quantization);
    if (job.request.name.empty() && !job.facts.quantization.empty() &&
        id.find(precision) == std::string::npos)
        id += "-" + precision;
    package.id = library::free_id(id, [this](const std::string& taken) {
        return library_.find(taken) != nullptr || removing_.contains(taken);
    });
    package.added = seconds_since_1970();
    set_facts(package, job.facts, options_.build);
    return package;
}

void LibraryService::on_placed(library::Package package, Result<library::Placed> placed) {
    const std::string name = library::file_name_for(package.id);
    if (!placed) return give_up(name, std::move(placed).error());
    package.files.push_back(placed->file);
    store_.add_package(package, lifeline_.guard([this, package, how = placed->how,
                                                 name](const Result<void>& written) {
        if (!written) return give_up(name, written.error());
        library_.add(package);
        if (watcher_ != nullptr) watcher_->on_added(package);
        finish_import(Imported{package, false, how});
    }));
}

// What was made is deleted, and its note only then.
void LibraryService::give_up(const std::string& file_name, Error error) {
    const Job& job = imports_.front();
    if (job.adopts || job.request.placement == library::Placement::in_place)
        return finish_import(std::move(error));
    const auto end = [this, error](const Result<void>&) { finish_import(error); };
    jobs_.run<void>(
        [this, file_name] {
            return library::discard(*options_.files, options_.folders, file_name);
        },
        lifeline_.guard([this, file_name, end](const Result<void>& gone) {
            if (!gone) return end(gone);  // the next start tries again
            store_.remove_leftover(file_name, lifeline_.guard(end));
        }));
}

void LibraryService::finish_import(Result<Imported> result) {
    const OnImported done = std::move(imports_.front().done);
    imports_.pop_front();
    if (watcher_ != nullptr) watcher_->on_import_ended(import_, result);
    if (!imports_.empty()) next_import();
    done(std::move(result));
}

void LibraryService::remove(const std::string& id, Done done) {
    const library::Package* found = library_.find(id);
    if (found == nullptr) {
        const auto near = library_.resolve(id);
        if (!near) return done(near.error());
        return done(Error{ErrorCode::not_found,
                          "'" + id + "' is not a whole id; did you mean " + (*near)->id + "?"});
    }
    library::Package package = *found;
    library_.remove(id);  // no request may start with it from here on
    removing_.insert(id);
    store_.remove_package(id, lifeline_.guard([this, package, done](const Result<void>& removed) {
        if (removed) return delete_removed(package, done);
        removing_.erase(package.id);
        library_.add(package);
        done(removed.error());
    }));
}

void LibraryService::delete_removed(const library::Package& package, Done done) {
    if (watcher_ != nullptr) watcher_->on_removed(package.id);
    jobs_.run<void>([this, package] { return library::delete_files(*options_.files, package); },
                    lifeline_.guard([this, package, done](const Result<void>& gone) {
                        removing_.erase(package.id);
                        const library::PackageFile& file = package.files.front();
                        if (!gone || file.in_place) return done(gone);
                        const std::string name = file.path.substr(file.path.rfind('/') + 1);
                        store_.remove_leftover(name, done);
                    }));
}

void LibraryService::inspect_again() {
    for (const library::Package& package : library_.packages())
        if (package.inspected_by != options_.build) outdated_.push_back(package.id);
    next_inspection();
}

void LibraryService::next_inspection() {
    if (outdated_.empty() || stop_) return;
    const std::string id = outdated_.front();
    outdated_.pop_front();
    const library::Package* package = library_.find(id);
    if (package == nullptr || !library::complaint_about(*package).empty()) return next_inspection();
    options_.inspect(package->files.front().path,
                     lifeline_.guard([this, id](const Result<supervise::FileFacts>& facts) {
                         const library::Package* known = library_.find(id);
                         if (facts && known != nullptr) {
                             library::Package changed = *known;
                             set_facts(changed, *facts, options_.build);
                             library_.replace(changed);
                             store_.update_package(changed,
                                                   [](const Result<void>&) {});  // else next time
                         }
                         next_inspection();
                     }));
}

void LibraryService::choose_default(const std::string& id, Done done) {
    store_.set_setting(kDefaultModel, id,
                       lifeline_.guard([this, id, done](const Result<void>& written) {
                           if (written) {
                               library_.set_fallback(id);
                               if (watcher_ != nullptr) watcher_->on_default_chosen();
                           }
                           done(written);
                       }));
}

void LibraryService::stop() { stop_ = true; }

}  // namespace hearth::api
