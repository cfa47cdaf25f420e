#include "daemon/api/library_service.h"

#include <chrono>

#include "models/library/ids.h"

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

}  // namespace

LibraryService::LibraryService(store::Store& store, store::TaskThread& jobs,
                               library::Folders folders, Inspect inspect)
    : store_(store), jobs_(jobs), folders_(std::move(folders)), inspect_(std::move(inspect)) {
    library_.assign(store.contents_at_start().packages);
    const auto& settings = store.contents_at_start().settings;
    if (const auto found = settings.find(kDefaultModel); found != settings.end())
        library_.set_fallback(found->second);
}

void LibraryService::import_model(Import request, OnImported done) {
    if (stop_) return done(Error{ErrorCode::shutting_down, "the daemon is stopping"});
    if (imports_.size() >= kMaxImportsWaiting)
        return done(Error{ErrorCode::busy, "too many imports are waiting"});
    imports_.push_back({std::move(request), std::move(done), {}});
    if (imports_.size() == 1) next_import();
}

void LibraryService::next_import() {
    ++import_;
    if (watcher_ != nullptr) watcher_->on_import_started(import_, imports_.front().request.path);
    inspect_(imports_.front().request.path,
             lifeline_.guard(
                 [this](Result<supervise::FileFacts> facts) { on_facts(std::move(facts)); }));
}

void LibraryService::on_facts(Result<supervise::FileFacts> facts) {
    if (!facts) return finish_import(std::move(facts).error());
    imports_.front().facts = *std::move(facts);
    const auto hash = [path = imports_.front().request.path, this]() -> Result<SharedHashed> {
        HEARTH_TRY(library::HashedFile hashed, library::hash_file(path, stop_));
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
    const library::PlaceRequest place{job.request.placement, folders_, package.id + ".gguf"};
    jobs_.run<library::Placed>(
        [this, source = *hashed, place] { return library::place_file(*source, place, stop_); },
        lifeline_.guard([this, package](Result<library::Placed> placed) {
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
    package.id = library::free_id(
        id, [this](const std::string& taken) { return library_.find(taken) != nullptr; });
    package.added = seconds_since_1970();
    package.kind = job.facts.kind;
    package.architecture = job.facts.architecture;
    package.quantization = job.facts.quantization;
    package.context = job.facts.context;
    package.parameters = job.facts.parameters;
    package.has_chat_template = job.facts.has_chat_template;
    package.unsupported = job.facts.unsupported;
    return package;
}

void LibraryService::on_placed(library::Package package, Result<library::Placed> placed) {
    if (!placed) return finish_import(std::move(placed).error());
    package.files.push_back(placed->file);
    store_.add_package(
        package, lifeline_.guard([this, package, how = placed->how](const Result<void>& written) {
            if (!written) return finish_import(written.error());
            library_.add(package);
            if (watcher_ != nullptr) watcher_->on_added(package);
            finish_import(Imported{package, false, how});
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
    store_.remove_package(id, lifeline_.guard([this, package, done](const Result<void>& removed) {
        if (!removed) {
            library_.add(package);
            return done(removed.error());
        }
        if (watcher_ != nullptr) watcher_->on_removed(package.id);
        jobs_.run<void>([package] { return library::delete_files(package); }, done);
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
