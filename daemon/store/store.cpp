#include "daemon/store/store.h"

#include <future>

#include "daemon/store/database.h"
#include "daemon/store/migrations.h"
#include "daemon/store/model_table.h"
#include "daemon/store/settings_table.h"

namespace hearth::store {
namespace {

constexpr std::size_t kMaxWaiting = 1024;

}  // namespace

struct Store::Tables {
    explicit Tables(Database opened)
        : database(std::move(opened)), models(database), settings(database) {}

    Database database;
    ModelTable models;
    SettingsTable settings;
};

Store::Store(Post post) : thread_("hearth-store", kMaxWaiting, std::move(post)) {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Post post) {
    std::unique_ptr<Store> store(new Store(std::move(post)));
    std::promise<Result<void>> opened;
    HEARTH_CHECK(store->thread_.put([&] { opened.set_value(store->open_here(path)); }));
    HEARTH_TRY_VOID(opened.get_future().get());
    return store;
}

Result<void> Store::open_here(const std::string& path) {
    HEARTH_TRY(Database database, Database::open(path));
    HEARTH_TRY_VOID(migrate(database));
    tables_ = std::make_unique<Tables>(std::move(database));
    HEARTH_TRY(contents_.packages, tables_->models.all());
    HEARTH_TRY(contents_.settings, tables_->settings.all());
    return {};
}

void Store::add_package(library::Package package, Done done) {
    thread_.run<void>(
        [this, package = std::move(package)] { return tables_->models.insert(package); },
        std::move(done));
}

void Store::remove_package(std::string id, Done done) {
    thread_.run<void>([this, id = std::move(id)] { return tables_->models.erase(id); },
                      std::move(done));
}

void Store::set_setting(std::string key, std::string value, Done done) {
    thread_.run<void>([this, key = std::move(key),
                       value = std::move(value)] { return tables_->settings.set(key, value); },
                      std::move(done));
}

void Store::erase_setting(std::string key, Done done) {
    thread_.run<void>([this, key = std::move(key)] { return tables_->settings.erase(key); },
                      std::move(done));
}

}  // namespace hearth::store
