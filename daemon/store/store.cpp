#include "daemon/store/store.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <future>

#include "daemon/store/leftover_table.h"
#include "daemon/store/migrations.h"
#include "daemon/store/model_table.h"
#include "daemon/store/settings_table.h"
#include "engine/base/log.h"

namespace hearth::store {
namespace {

constexpr std::size_t kMaxWaiting = 1024;

// "20261231T235959Z": sorts, and holds no character that a shell would read.
std::string date_for_names() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
    return {text.data(), size};
}

bool broke_off(const Result<void>& result) {
    return !result && (result.error().code == ErrorCode::io_failed ||
                       result.error().code == ErrorCode::disk_full ||
                       result.error().code == ErrorCode::storage_damaged);
}

}  // namespace

struct Store::Tables {
    explicit Tables(Database opened)
        : database(std::move(opened)), models(database), settings(database), leftovers(database) {}

    Database database;
    ModelTable models;
    SettingsTable settings;
    LeftoverTable leftovers;
};

Store::Store(std::string path, const DatabaseOptions& options, Post post)
    : path_(std::move(path)),
      options_(options),
      thread_("hearth-store", kMaxWaiting, std::move(post)) {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Post post,
                                           const DatabaseOptions& options) {
    std::unique_ptr<Store> store(new Store(path, options, std::move(post)));
    std::promise<Result<void>> opened;
    HEARTH_CHECK(store->thread_.put([&] { opened.set_value(store->open_here()); }));
    HEARTH_TRY_VOID(opened.get_future().get());
    return store;
}

Result<void> Store::open_here() {
    Result<void> opened = open_sound();
    if (opened || opened.error().code != ErrorCode::storage_damaged) return opened;
    log(LogLevel::error, opened.error().message);
    tables_.reset();
    contents_ = {};
    HEARTH_TRY_VOID(set_aside());
    return open_sound();
}

Result<void> Store::open_sound() {
    HEARTH_TRY(Database database, Database::open(path_, options_));
    HEARTH_TRY_VOID(database.check());
    HEARTH_TRY(const int layout, layout_version(database));
    contents_.is_new = layout == 0;
    HEARTH_TRY_VOID(migrate(database));
    tables_ = std::make_unique<Tables>(std::move(database));
    HEARTH_TRY(contents_.packages, tables_->models.all());
    HEARTH_TRY(contents_.settings, tables_->settings.all());
    HEARTH_TRY(contents_.leftovers, tables_->leftovers.all());
    return {};
}

// The log goes with it: SQLite must not play it into another database.
Result<void> Store::set_aside() {
    FileSystem& files = *options_.files;
    const std::string target = path_ + ".damaged-" + date_for_names();
    for (const char* part : {"-wal", "-journal", ""}) {
        const int moved = files.rename(path_ + part, target + part);
        if (moved < 0 && moved != -ENOENT)
            return file_error(path_ + part, "moved to " + target, -moved);
    }
    HEARTH_TRY_VOID(sync_folder(files, path_.substr(0, path_.rfind('/'))));
    contents_.set_aside = target;
    return {};
}

// A write that failed half-way may still lie in the log, where opening it would find it. Closing
// first moves what was acknowledged out of the log and deletes it; `undo` takes back what came
// through nevertheless.
void Store::reopen(const Work& undo) {
    tables_.reset();
    auto database = Database::open(path_, options_);
    if (!database) return log(LogLevel::error, database.error().message);
    tables_ = std::make_unique<Tables>(*std::move(database));
    if (const auto sound = tables_->database.check(); !sound) {
        log(LogLevel::error, sound.error().message);
        tables_.reset();
    } else if (undo) {
        static_cast<void>(undo(*tables_));  // most often there is nothing to take back
    }
}

void Store::run(Work work, Done done, Work undo) {
    thread_.run<void>(
        [this, work = std::move(work), undo = std::move(undo)]() -> Result<void> {
            if (tables_ == nullptr) reopen({});
            if (tables_ == nullptr)
                return Error{ErrorCode::io_failed, "the database " + path_ +
                                                       " cannot be opened again after an error; "
                                                       "see the log of hearthd"};
            Result<void> result = work(*tables_);
            if (broke_off(result)) reopen(undo);
            return result;
        },
        std::move(done));
}

void Store::add_package(library::Package package, Done done) {
    const auto undo = [id = package.id](Tables& tables) { return tables.models.erase(id); };
    run([package = std::move(package)](Tables& tables) { return tables.models.insert(package); },
        std::move(done), undo);
}

void Store::update_package(library::Package package, Done done) {
    run([package = std::move(package)](Tables& tables) { return tables.models.update(package); },
        std::move(done));
}

void Store::remove_package(std::string id, Done done) {
    run([id = std::move(id)](Tables& tables) { return tables.models.erase(id); }, std::move(done));
}

void Store::add_leftover(std::string name, Done done) {
    run([name = std::move(name)](Tables& tables) { return tables.leftovers.insert(name); },
        std::move(done));
}

void Store::remove_leftover(std::string name, Done done) {
    run([name = std::move(name)](Tables& tables) { return tables.leftovers.erase(name); },
        std::move(done));
}

void Store::set_setting(std::string key, std::string value, Done done) {
    run([key = std::move(key),
         value = std::move(value)](Tables& tables) { return tables.settings.set(key, value); },
        std::move(done));
}

void Store::erase_setting(std::string key, Done done) {
    run([key = std::move(key)](Tables& tables) { return tables.settings.erase(key); },
        std::move(done));
}

}  // namespace hearth::store
