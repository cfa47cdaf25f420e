// The library's packages in SQLite. A row that no import can have written is storage_damaged.
#pragma once

#include "daemon/store/database.h"
#include "models/library/package_table.h"

namespace hearth::store {

class ModelTable : public library::PackageTable {
public:
    explicit ModelTable(Database& database) : database_(database) {}

    Result<std::vector<library::Package>> all() override;
    Result<void> insert(const library::Package& package) override;
    Result<void> update(const library::Package& package) override;
    Result<void> erase(const std::string& id) override;

private:
    static void bind_facts(Statement& statement, const library::Package& package);
    Result<void> expect_one_row(const std::string& id) const;
    Result<std::vector<library::PackageFile>> files_of(const std::string& id);
    Result<void> insert_file(const std::string& id, std::int64_t part,
                             const library::PackageFile& file);

    Database& database_;
};

}  // namespace hearth::store
