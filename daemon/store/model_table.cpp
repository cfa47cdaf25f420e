#include "daemon/store/model_table.h"

#include <algorithm>

#include "daemon/store/leftover_table.h"
#include "models/library/ids.h"

namespace hearth::store {

using library::Package;
using library::PackageFile;

namespace {

bool is_hash(const std::string& text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

// SQLite notices broken pages, not a changed letter in a text.
Result<void> check_row(const Package& package) {
    bool sound = library::is_valid_id(package.id) && !package.files.empty();
    for (const PackageFile& file : package.files)
        sound = sound && file.path.starts_with('/') && is_hash(file.sha256);
    if (sound) return {};
    return Error{ErrorCode::storage_damaged,
                 "the database is damaged: the row of the model '" + package.id + "' is broken"};
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<std::vector<Package>> ModelTable::all() {
    HEARTH_TRY(Statement rows,
               database_.prepare("SELECT id, name, added, kind, architecture, quantization, "
                                 "context, parameters, has_chat_template, unsupported, "
                                 "inspected_by FROM models"));
    std::vector<Package> packages;
    for (;;) {
        HEARTH_TRY(const bool row, rows.step());
        if (!row) return packages;
        Package package;
        package.id = rows.text(0);
        package.name = rows.text(1);
        package.added = rows.number(2);
        package.kind = rows.text(3);
        package.architecture = rows.text(4);
        package.quantization = rows.text(5);
        package.context = static_cast<int>(rows.number(6));
        package.parameters = static_cast<std::uint64_t>(rows.number(7));
        package.has_chat_template = rows.number(8) != 0;
        package.unsupported = rows.text(9);
        package.inspected_by = rows.text(10);
        HEARTH_TRY_VOID(rows.intact());
        HEARTH_TRY(package.files, files_of(package.id));
        HEARTH_TRY_VOID(check_row(package));
        packages.push_back(std::move(package));
    }
}

Result<std::vector<PackageFile>> ModelTable::files_of(const std::string& id) {
    HEARTH_TRY(Statement rows,
               database_.prepare("SELECT path, size, mtime_ns, sha256, in_place FROM files "
                                 "WHERE model = ? ORDER BY part"));
    rows.bind(id);
    std::vector<PackageFile> files;
    for (;;) {
        HEARTH_TRY(const bool row, rows.step());
        if (!row) return files;
        files.push_back({rows.text(0),
                         {static_cast<std::uint64_t>(rows.number(1)), rows.number(2)},
                         rows.text(3),
                         rows.number(4) != 0});
        HEARTH_TRY_VOID(rows.intact());
    }
}

Result<void> ModelTable::insert(const Package& package) {
    HEARTH_TRY(Transaction transaction, Transaction::begin(database_));
    {
        HEARTH_TRY(Statement statement, database_.prepare("INSERT INTO models VALUES "
                                                          "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
        statement.bind(package.id).bind(package.name).bind(package.added);
        bind_facts(statement, package);
        HEARTH_TRY_VOID(statement.run());
    }
    std::int64_t part = 0;
    for (const PackageFile& file : package.files) {
        HEARTH_TRY_VOID(insert_file(package.id, part++, file));
        if (!file.in_place) HEARTH_TRY_VOID(LeftoverTable(database_).erase(name_of(file.path)));
    }
    return transaction.commit();
}

void ModelTable::bind_facts(Statement& statement, const Package& package) {
    statement.bind(package.kind).bind(package.architecture).bind(package.quantization);
    statement.bind(static_cast<std::int64_t>(package.context));
    statement.bind(static_cast<std::int64_t>(package.parameters));
    statement.bind(static_cast<std::int64_t>(package.has_chat_template));
    statement.bind(package.unsupported).bind(package.inspected_by);
}

Result<void> ModelTable::insert_file(const std::string& id, std::int64_t part,
                                     const PackageFile& file) {
    HEARTH_TRY(Statement statement,
               database_.prepare("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)"));
    statement.bind(id).bind(part).bind(file.path);
    statement.bind(static_cast<std::int64_t>(file.identity.size)).bind(file.identity.mtime_ns);
    statement.bind(file.sha256).bind(static_cast<std::int64_t>(file.in_place));
    return statement.run();
}

Result<void> ModelTable::update(const Package& package) {
    HEARTH_TRY(Statement statement,
               database_.prepare("UPDATE models SET kind = ?, architecture = ?, quantization = ?, "
                                 "context = ?, parameters = ?, has_chat_template = ?, "
                                 "unsupported = ?, inspected_by = ? WHERE id = ?"));
    bind_facts(statement, package);
    HEARTH_TRY_VOID(statement.bind(package.id).run());
    return expect_one_row(package.id);
}

Result<void> ModelTable::erase(const std::string& id) {
    HEARTH_TRY(Transaction transaction, Transaction::begin(database_));
    HEARTH_TRY(const std::vector<PackageFile> files, files_of(id));
    for (const PackageFile& file : files)
        if (!file.in_place) HEARTH_TRY_VOID(LeftoverTable(database_).insert(name_of(file.path)));
    {
        HEARTH_TRY(Statement statement, database_.prepare("DELETE FROM models WHERE id = ?"));
        HEARTH_TRY_VOID(statement.bind(id).run());
    }
    HEARTH_TRY_VOID(expect_one_row(id));
    return transaction.commit();
}

Result<void> ModelTable::expect_one_row(const std::string& id) const {
    if (database_.rows_changed() == 1) return {};
    return Error{ErrorCode::not_found, "the database knows no model '" + id + "'"};
}

}  // namespace hearth::store
