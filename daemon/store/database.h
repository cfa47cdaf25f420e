// SQLite as RAII. One connection, used on one thread, and no other process may open the same file:
// SQLite before 3.51.3 can corrupt a write-ahead log that two connections share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/file_system.h"
#include "engine/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hearth::store {

class Database;

// One prepared statement. Bind in order, then step through the rows.
class Statement {
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&& other) noexcept = delete;
    ~Statement();

    Statement& bind(std::string_view text);
    Statement& bind(std::int64_t number);

    // True: a row is there to be read. False: no more. Also tells what went wrong in bind and text.
    Result<bool> step();
    Result<void> intact() const;  // no_memory, too_large: a text was not bound or read
    Result<void> run();           // for statements without rows
    std::string text(int column) const;
    std::int64_t number(int column) const;

private:
    friend class Database;
    Statement(Database& database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

    Database& database_;
    sqlite3_stmt* handle_;
    int bound_ = 0;
    mutable int failed_ = 0;  // SQLite's code of the first bind or text that failed
};

struct DatabaseOptions {
    FileSystem* files = &real_files();  // for what SQLite does not do itself
    const char* vfs = nullptr;          // how SQLite reaches the disk; null: its own way
};

class Database {
public:
    // Makes the file (0600) when there is none. Write-ahead log, synchronous FULL, exclusive: a
    // second connection, of this process or another, is refused with busy.
    static Result<Database> open(const std::string& path, const DatabaseOptions& options = {});

    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) noexcept = delete;
    ~Database();

    Result<Statement> prepare(std::string_view sql);
    Result<void> run(std::string_view sql);  // one or more statements without parameters
    int rows_changed() const;
    // storage_damaged when a page, an index or a reference is not as SQLite left it.
    Result<void> check();
    // A copy at the path plus `suffix`, whole and on disk when it returns; replaces an older one.
    Result<void> back_up(const std::string& suffix);
    // Closing then leaves file and log as they are.
    void leave_untouched();
    Error error(std::string_view what) const;

private:
    Database(sqlite3* handle, std::string path, FileSystem* files)
        : handle_(handle), path_(std::move(path)), files_(files) {}
    Result<void> set_up();
    Result<void> expect(const char* sql, std::string_view answer);

    sqlite3* handle_;
    std::string path_;
    FileSystem* files_;
    std::thread::id thread_ = std::this_thread::get_id();  // the only one that may call us
};

// Rolls back unless committed.
class Transaction {
public:
    static Result<Transaction> begin(Database& database);
    Transaction(Transaction&& other) noexcept;
    Transaction& operator=(Transaction&&) noexcept = delete;
    ~Transaction();

    Result<void> commit();

private:
    explicit Transaction(Database& database) : database_(&database) {}
    Database* database_;  // null: nothing is open any more
};

}  // namespace hearth::store
