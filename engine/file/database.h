// SPDX-License-Identifier: MIT
//
// SQLite as RAII types: a connection, a prepared statement, a transaction. The only place that
// knows sqlite3.h, but for the checksums of pages.
//
// Errors: SQLITE_FULL is kStoreFull; SQLITE_TOOBIG is kValueTooLarge; SQLITE_CORRUPT, SQLITE_NOTADB
// and a page that does not match its checksum are kCorruption; everything else is kIoError; the
// message names the file. Text never comes from outside: values are bound.
#ifndef CELLFS_ENGINE_FILE_DATABASE_H_
#define CELLFS_ENGINE_FILE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/status_or.h"

struct sqlite3;
struct sqlite3_file;
struct sqlite3_stmt;

namespace cellfs {

class BlockCache;

// One thread at a time. A statement must not outlive its connection.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Parameters count from 1. Bytes are not copied: they stay good until the next Reset. What cannot
  // be bound is the error of the next Step.
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, std::string_view bytes);
  void BindNull(int parameter);

  // True: at a row, whose columns can be read until the next Step or Reset.
  StatusOr<bool> Step();
  // Steps to the end and resets.
  Status Run();
  // Ready to be bound and stepped again; bindings stay.
  void Reset();

  // Columns count from 0. Bytes are good until the next Step or Reset.
  int64_t Integer(int column) const;
  std::string_view Bytes(int column) const;
  bool IsNull(int column) const;

 private:
  friend class Database;
  void NoteBind(int code);
  Statement(sqlite3* connection, sqlite3_stmt* statement, const std::string* path)
      : connection_(connection), statement_(statement), path_(path) {}

  sqlite3* connection_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  const std::string* path_ = nullptr;  // the connection's
  int bind_error_ = 0;                 // SQLite's code of the first one since the last Step
};

// A connection. One thread at a time.
class Database {
 public:
  // A new file, to be written once: without a journal, so that what fails is to be thrown away, and
  // without a sync, which the caller sees to. It is complete when a transaction has been committed
  // and the connection is closed. An error where the file exists; any other leaves none.
  static StatusOr<std::unique_ptr<Database>> Build(const std::string& path);
  // The same of a file that is still being built.
  static StatusOr<std::unique_ptr<Database>> GoOnBuilding(const std::string& path);
  // A file that nobody changes any more: read without locks, by pread alone; nothing is written
  // beside it. Its pages are kept in `cache`, which outlives the connection, under `owner`.
  static StatusOr<std::unique_ptr<Database>> OpenImmutable(const std::string& path,
                                                           BlockCache& cache, uint64_t owner);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }

  // Runs statements that give no rows, or whose rows nobody wants.
  Status Execute(const std::string& sql);
  // Kept for long: what is prepared once and run often.
  StatusOr<Statement> Prepare(const std::string& sql);
  // The first column of the first row.
  StatusOr<int64_t> QueryInteger(const std::string& sql);
  // The page of the root of a table or an index; kCorruption: there is none.
  StatusOr<uint32_t> RootOf(std::string_view name);

  // Of an immutable one: kDatabasePageSize bytes, from the cache or checked. Pages count from 1.
  // kCorruption: it does not match its checksum, or there is none.
  Status ReadPage(uint32_t number, char* page);
  uint64_t FileBytes();  // likewise; 0: nobody can say
  // The bytes of one column of a row, which SQLite does not hold in its own memory meanwhile.
  Status ReadBlob(const std::string& table, const char* column, int64_t rowid, std::string* bytes);

 private:
  static StatusOr<std::unique_ptr<Database>> Open(const std::string& path, const std::string& name,
                                                  int flags);
  explicit Database(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  sqlite3* connection_ = nullptr;
  sqlite3_file* file_ = nullptr;  // of an immutable one; the connection's
};

// BEGIN ... COMMIT; rolled back unless committed.
class Transaction {
 public:
  static StatusOr<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null: committed or moved away
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_DATABASE_H_
