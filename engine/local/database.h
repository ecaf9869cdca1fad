// SPDX-License-Identifier: MIT
//
// SQLite as RAII types: a connection, a prepared statement, a transaction. The only place that
// knows sqlite3.h, but for the checksums of pages.
//
// Errors: SQLITE_FULL is kStoreFull; SQLITE_TOOBIG is kValueTooLarge; SQLITE_CORRUPT, SQLITE_NOTADB
// and a page that does not match its checksum are kCorruption; everything else is kIoError; the
// message names the file. Text never comes from outside: values are bound, and names of tables are
// made by QuotedName.
#ifndef CELLFS_ENGINE_LOCAL_DATABASE_H_
#define CELLFS_ENGINE_LOCAL_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/status_or.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cellfs {

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
  // kCreate: made where it is missing. kAtRest: nobody else has it open, and no byte of it, its WAL
  // or its shared memory is changed, as long as only reads follow.
  enum class Mode { kOpen, kCreate, kAtRest };

  static StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  // Of one row with all its columns. More is kValueTooLarge.
  uint64_t MostBytesOfRow() const;

  // Runs statements that give no rows, or whose rows nobody wants.
  Status Execute(const std::string& sql);
  // Kept for long: what is prepared once and run often.
  StatusOr<Statement> Prepare(const std::string& sql);
  // The first column of the first row.
  StatusOr<int64_t> QueryInteger(const std::string& sql);

  // The bytes of one column of a row, which SQLite does not hold in its own memory meanwhile.
  Status ReadBlob(const std::string& table, const char* column, int64_t rowid, std::string* bytes);
  // Takes what it can of the WAL into the database and, where no reader needs the WAL any more,
  // empties it; else kUnavailable. Hardly waits for readers.
  Status Checkpoint();
  // Writes the dirty pages of the open transaction to the WAL, so that its commit is short.
  Status WriteOut();
  // Gives back the memory of cached pages.
  void ReleaseMemory();

 private:
  Status LeaveAsItIs();
  Database(std::string path, sqlite3* connection)
      : path_(std::move(path)), connection_(connection) {}

  const std::string path_;
  sqlite3* connection_;
};

// BEGIN IMMEDIATE ... COMMIT; rolled back unless committed.
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

// `name` as an SQL identifier, in double quotes.
std::string QuotedName(std::string_view name);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_DATABASE_H_
