#include "daemon/store/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

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
        case SQLITE_TOOBIG:
            return ErrorCode::too_large;
        case SQLITE_FULL:
            return ErrorCode::disk_full;
        case SQLITE_ERROR:  // our statements are fixed: then it is the tables that are not ours
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return ErrorCode::storage_damaged;
        default:
            return ErrorCode::io_failed;
    }
}

std::string_view advice_for(int sqlite_code) {
    switch (sqlite_code & 0xFF) {
        case SQLITE_FULL:
            return "; free some disk space and try again";
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
            return "; give this user the right to write it and its folder";
        default:
            return {};
    }
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      bound_(other.bound_),
      failed_(other.failed_) {}

Statement::~Statement() { ::sqlite3_finalize(handle_); }

Statement& Statement::bind(std::string_view text) {
    const int code = ::sqlite3_bind_text64(handle_, ++bound_, text.data(), text.size(),
                                           SQLITE_TRANSIENT, SQLITE_UTF8);
    HEARTH_CHECK(code == SQLITE_OK || code == SQLITE_NOMEM || code == SQLITE_TOOBIG);
    if (failed_ == SQLITE_OK) failed_ = code;
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    HEARTH_CHECK(::sqlite3_bind_int64(handle_, ++bound_, number) == SQLITE_OK);
    return *this;
}

Result<void> Statement::intact() const {
    if (failed_ == SQLITE_OK) return {};
    return Error{code_for(failed_), std::string("the database: ") + ::sqlite3_errstr(failed_)};
}

Result<bool> Statement::step() {
    HEARTH_TRY_VOID(intact());
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
    if (bytes == nullptr) {
        if (::sqlite3_column_type(handle_, column) != SQLITE_NULL) failed_ = SQLITE_NOMEM;
        return {};
    }
    const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column));
    return {bytes, bytes + size};
}

std::int64_t Statement::number(int column) const { return ::sqlite3_column_int64(handle_, column); }

Result<Database> Database::open(const std::string& path, const DatabaseOptions& options) {
    sqlite3* handle = nullptr;
    const mode_t mask = ::umask(0077);
    const int code = ::sqlite3_open_v2(
        path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        options.vfs);
    Database database(handle, path, options.files);
    const Result<void> ready =
        code == SQLITE_OK ? database.set_up() : database.error("it cannot be opened");
    ::umask(mask);
    if (!ready && ready.error().code == ErrorCode::busy)
        return Error{ErrorCode::busy, path + " is in use by another hearthd"};
    if (ready) return database;
    // A file that says of itself that it may not be written, though we have the right to.
    const bool read_only = (::sqlite3_extended_errcode(handle) & 0xFF) == SQLITE_READONLY;
    if (read_only && ::access(path.c_str(), W_OK) == 0)
        return Error{ErrorCode::storage_damaged, ready.error().message};
    return ready.error();
}

// Exclusive comes first: then the log needs no shared memory and the lock is held for good. That
// there is one connection only is what our use of the log rests on, so it is asked for again.
Result<void> Database::set_up() {
    ::sqlite3_extended_result_codes(handle_, 1);
    HEARTH_TRY_VOID(expect("PRAGMA locking_mode = EXCLUSIVE", "exclusive"));
    HEARTH_TRY_VOID(expect("PRAGMA journal_mode = WAL", "wal"));
    return run(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
        "BEGIN EXCLUSIVE; COMMIT");
}

Result<void> Database::expect(const char* sql, std::string_view answer) {
    HEARTH_TRY(Statement statement, prepare(sql));
    HEARTH_TRY(const bool row, statement.step());
    if (row && statement.text(0) == answer) return {};
    HEARTH_TRY_VOID(statement.intact());
    return Error{ErrorCode::io_failed, "the database " + path_ + ": " + sql +
                                           " is refused; a file system without locks?"};
}

Result<void> Database::check() {
    HEARTH_TRY(Statement statement, prepare("PRAGMA quick_check(1)"));
    HEARTH_TRY(const bool row, statement.step());
    if (row && statement.text(0) == "ok") return {};
    HEARTH_TRY_VOID(statement.intact());
    return Error{ErrorCode::storage_damaged,
                 "the database " + path_ + " is damaged: " + statement.text(0).substr(0, 200)};
}

Result<void> Database::back_up(const std::string& suffix) {
    const std::string target = path_ + suffix;
    const std::string growing = target + ".part";
    files_->unlink(growing);
    const auto finish = [&]() -> Result<void> {
        {
            HEARTH_TRY(Statement statement, prepare("VACUUM INTO ?"));
            HEARTH_TRY_VOID(statement.bind(growing).run());
        }
        const int copy = files_->open(growing, O_RDONLY, 0);
        if (copy < 0) return file_error(growing, "opened", -copy);
        const int synced = files_->sync(copy);
        ::close(copy);
        if (synced < 0) return file_error(growing, "written to disk", -synced);
        if (const int moved = files_->rename(growing, target); moved < 0)
            return file_error(growing, "moved to " + target, -moved);
        return sync_folder(*files_, path_.substr(0, path_.rfind('/')));
    };
    Result<void> done = finish();
    if (!done) files_->unlink(growing);
    return done;
}

void Database::leave_untouched() {
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      files_(other.files_),
      thread_(other.thread_) {}

Database::~Database() { ::sqlite3_close(handle_); }

Result<Statement> Database::prepare(std::string_view sql) {
    HEARTH_CHECK(std::this_thread::get_id() == thread_);
    sqlite3_stmt* handle = nullptr;
    if (::sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &handle, nullptr) !=
        SQLITE_OK)
        return error("a statement is not understood");
    return Statement(*this, handle);
}

Result<void> Database::run(std::string_view sql) {
    HEARTH_CHECK(std::this_thread::get_id() == thread_);
    const std::string text(sql);
    if (::sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return error("a statement failed");
    return {};
}

int Database::rows_changed() const { return ::sqlite3_changes(handle_); }

Error Database::error(std::string_view what) const {
    const int code = ::sqlite3_extended_errcode(handle_);
    return {code_for(code), "the database " + path_ + ": " + std::string(what) + ": " +
                                ::sqlite3_errmsg(handle_) + std::string(advice_for(code))};
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
