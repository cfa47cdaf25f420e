#include "daemon/store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <utility>

namespace hearth::store {
namespace {

ErrorCode code_for(int sqlite_code) {
    switch (sqlite_code & 0xFF) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return ErrorCode::busy;
        case SQLITE_CONSTRAINT:
            return ErrorCode::bad_input;
        case SQLITE_NOMEM:
            return ErrorCode::no_memory;
        default:
            return ErrorCode::io_failed;
    }
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      bound_(other.bound_) {}

Statement::~Statement() { ::sqlite3_finalize(handle_); }

Statement& Statement::bind(std::string_view text) {
    HEARTH_CHECK(::sqlite3_bind_text64(handle_, ++bound_, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK);
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    HEARTH_CHECK(::sqlite3_bind_int64(handle_, ++bound_, number) == SQLITE_OK);
    return *this;
}

Result<bool> Statement::step() {
    const int code = ::sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return database_.error("a statement failed");
}

Result<void> Statement::run() {
    HEARTH_TRY(const bool row, step());
    HEARTH_CHECK(!row);
    return {};
}

std::string Statement::text(int column) const {
    const unsigned char* bytes = ::sqlite3_column_text(handle_, column);
    if (bytes == nullptr) return {};
    const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column));
    return {bytes, bytes + size};
}

std::int64_t Statement::number(int column) const { return ::sqlite3_column_int64(handle_, column); }

Result<Database> Database::open(const std::string& path) {
    sqlite3* handle = nullptr;
    const mode_t mask = ::umask(0077);
    const int code = ::sqlite3_open_v2(
        path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        nullptr);
    Database database(handle, path);
    Result<void> ready;
    if (code != SQLITE_OK)
        ready = database.error("it cannot be opened");
    else  // Exclusive comes first: then the log needs no shared memory and the lock is held for
          // good.
        ready = database.run(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; BEGIN EXCLUSIVE; COMMIT");
    ::umask(mask);
    if (!ready && ready.error().code == ErrorCode::busy)
        return Error{ErrorCode::busy, path + " is in use by another hearthd"};
    if (!ready) return std::move(ready).error();
    return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Database::~Database() { ::sqlite3_close(handle_); }

Result<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    if (::sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &handle, nullptr) !=
        SQLITE_OK)
        return error("a statement is not understood");
    return Statement(*this, handle);
}

Result<void> Database::run(std::string_view sql) {
    const std::string text(sql);
    if (::sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return error("a statement failed");
    return {};
}

int Database::rows_changed() const { return ::sqlite3_changes(handle_); }

Error Database::error(std::string_view what) const {
    return {code_for(::sqlite3_extended_errcode(handle_)),
            "the database " + path_ + ": " + std::string(what) + ": " + ::sqlite3_errmsg(handle_)};
}

Result<Transaction> Transaction::begin(Database& database) {
    HEARTH_TRY_VOID(database.run("BEGIN IMMEDIATE"));
    return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
    if (database_ == nullptr) return;
    // When even this fails, SQLite has rolled back by itself.
    static_cast<void>(database_->run("ROLLBACK"));
}

Result<void> Transaction::commit() {
    HEARTH_TRY_VOID(database_->run("COMMIT"));
    database_ = nullptr;
    return {};
}

}  // namespace hearth::store
