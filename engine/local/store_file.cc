// SPDX-License-Identifier: MIT
#include "engine/local/store_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace cellfs {
namespace {

constexpr int64_t kApplicationId = 0x63656c6c;  // "cell"
constexpr int64_t kFormatVersion = 1;
constexpr int64_t kPageSize = 4096;
constexpr size_t kIdleConnections = 4;
constexpr uint64_t kRowOverhead = 1024;  // of a cell's row in SQLite beside key and value, at most
constexpr int kCheckpointAttempts = 5;
constexpr int64_t kLeastCacheKibibytes = 256;

constexpr char kCellTablesSql[] =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'table$%' "
    "AND name NOT LIKE '%$values'";
constexpr char kStoreFact[] = "store";
constexpr char kTableFact[] = "table";
constexpr char kFlushedSql[] = "SELECT value FROM meta WHERE name = 'flushed'";

}  // namespace

int64_t CacheBudget::KibibytesEach() const {
  const int64_t connections = std::max<int64_t>(connections_.load(), 1);
  return std::max(bytes_ / 1024 / connections, kLeastCacheKibibytes);
}

namespace {

StatusOr<int64_t> ReadFact(Database& database, const std::string& name) {
  return database.QueryInteger("SELECT value FROM meta WHERE name = '" + name + "'");
}

}  // namespace

Status CheckIsStoreFile(Database& database, const StoreFileOwner& owner) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t id, database.QueryInteger("PRAGMA application_id"));
  if (id != kApplicationId) {
    return Status(StatusCode::kCorruption, database.path() + ": not a store file");
  }
  CELLFS_ASSIGN_OR_RETURN(const int64_t version, database.QueryInteger("PRAGMA user_version"));
  if (version != kFormatVersion) {
    return Status(StatusCode::kCorruption, database.path() + ": format " + std::to_string(version) +
                                               " is not known to this version");
  }
  CELLFS_ASSIGN_OR_RETURN(const int64_t store, ReadFact(database, kStoreFact));
  CELLFS_ASSIGN_OR_RETURN(const int64_t table, ReadFact(database, kTableFact));
  const bool same_store = static_cast<uint64_t>(store) == owner.store_id;
  if (same_store && static_cast<uint64_t>(table) == owner.table) return Status();
  return Status(StatusCode::kCorruption,
                database.path() + ": it is the file of " +
                    (same_store ? "table " + std::to_string(table) : "another store"));
}

Status CheckHasFlushed(const std::string& path, SequenceId flushed, SequenceId needed,
                       const std::string& segment) {
  if (flushed >= needed) return Status();
  return Status(StatusCode::kCorruption,
                "'" + path + "' lacks what was written with the sequence ids from " +
                    std::to_string(flushed + 1) + " to " + std::to_string(needed) +
                    ": it is an older copy or was damaged, or segment " + segment +
                    " of the log is missing");
}

StatusOr<SequenceId> ReadFlushed(Database& database) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t flushed, database.QueryInteger(kFlushedSql));
  return static_cast<SequenceId>(flushed);
}

// What a read connection keeps for a family.
struct StoreFile::Snapshot::Family {
  FreeReaders readers;
  std::optional<bool> any_tombstones;  // in the present state; not known until asked
};

// A read connection with its statements, in a read transaction or not.
struct StoreFile::Connection {
  Connection(std::unique_ptr<Database> opened, CacheBudget& shared)
      : budget(shared), database(std::move(opened)) {
    budget.Join();
  }
  ~Connection() { budget.Leave(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status EndRead() {
    reading = false;
    return end.Run();
  }

  CacheBudget& budget;
  std::unique_ptr<Database> database;
  Statement begin, end, read_flushed, read_schema_version;
  std::map<std::string, Snapshot::Family, std::less<>> families;
  int64_t cache_kibibytes = 0;
  int64_t schema_version = -1;
  bool reading = false;
  uint64_t generation = 0;
  SequenceId flushed = 0;
};

StatusOr<std::shared_ptr<StoreFile>> StoreFile::Open(const std::string& path, Database::Mode mode,
                                                     const StoreFileOwner& owner,
                                                     const std::vector<std::string>& families,
                                                     CacheBudget& budget) {
  std::shared_ptr<StoreFile> file(new StoreFile(path, budget));
  std::error_code missing;
  const auto size_of_wal = std::filesystem::file_size(path + "-wal", missing);
  file->is_recovered_ = !missing && size_of_wal > 0;  // a clean close removes it
  CELLFS_ASSIGN_OR_RETURN(file->writer_, Database::Open(path, mode));
  CELLFS_RETURN_IF_ERROR(file->Initialize(mode, owner, families));
  file->most_bytes_of_cell_ = file->writer_->MostBytesOfRow() - kRowOverhead;
  return file;
}

StoreFile::StoreFile(std::string path, CacheBudget& budget)
    : path_(std::move(path)), budget_(budget) {}

StoreFile::~StoreFile() = default;

void StoreFile::Remove(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path + suffix).c_str());
}

Status StoreFile::Initialize(Database::Mode mode, const StoreFileOwner& owner,
                             const std::vector<std::string>& families) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t tables,
                          writer_->QueryInteger("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = tables == 0 && mode == Database::Mode::kCreate;
  if (!is_new) CELLFS_RETURN_IF_ERROR(CheckIsStoreFile(*writer_, owner));
  constexpr int kIncremental = 2;
  CELLFS_ASSIGN_OR_RETURN(const int64_t mode_now, writer_->QueryInteger("PRAGMA auto_vacuum"));
  if (mode_now != kIncremental) {  // new, or it ended in the middle of Shrink
    CELLFS_RETURN_IF_ERROR(writer_->Execute("PRAGMA auto_vacuum = INCREMENTAL"));
  }
  CELLFS_RETURN_IF_ERROR(writer_->Execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;"
      "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192;"));
  if (is_new) {
    CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
    CELLFS_RETURN_IF_ERROR(writer_->Execute(
        "PRAGMA application_id = " + std::to_string(kApplicationId) +
        "; PRAGMA user_version = " + std::to_string(kFormatVersion) +
        "; CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
        "INSERT INTO meta VALUES ('" +
        kStoreFact + "', " + std::to_string(static_cast<int64_t>(owner.store_id)) + "), ('" +
        kTableFact + "', " + std::to_string(owner.table) + ")"));
    CELLFS_RETURN_IF_ERROR(transaction.Commit());
  }
  CELLFS_RETURN_IF_ERROR(ReplaceFamilies(families));
  return LoadFacts();
}

Status StoreFile::LoadFacts() {
  CELLFS_ASSIGN_OR_RETURN(const SequenceId flushed, ReadFlushed(*writer_));
  CELLFS_ASSIGN_OR_RETURN(const int64_t cells, ReadFact(*writer_, "cells"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t garbage, ReadFact(*writer_, "garbage"));
  facts_ = {flushed, cells, garbage};
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> tables, CellTables());
  for (const std::string& table : tables) {
    CELLFS_ASSIGN_OR_RETURN(
        const int64_t found,
        writer_->QueryInteger("SELECT EXISTS(SELECT 1 FROM " + QuotedName(table) + ")"));
    if (found != 0) empty_ = false;
  }
  return MeasureBytes();
}

Status StoreFile::SaveFacts(const StoreFileFacts& facts) {
  return writer_->Execute("INSERT OR REPLACE INTO meta VALUES ('flushed', " +
                          std::to_string(facts.flushed) + "), ('cells', " +
                          std::to_string(std::max<int64_t>(facts.cells, 0)) + "), ('garbage', " +
                          std::to_string(std::max<int64_t>(facts.garbage, 0)) + ")");
}

// The pages of the cells: each table has one at least, and the file has two of its own.
Status StoreFile::MeasureBytes() {
  CELLFS_ASSIGN_OR_RETURN(const int64_t pages, writer_->QueryInteger("PRAGMA page_count"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t free, writer_->QueryInteger("PRAGMA freelist_count"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t roots,
                          writer_->QueryInteger("SELECT count(*) FROM sqlite_schema"));
  const int64_t used = std::max<int64_t>(pages - free - roots - 2, 0) + 1;
  bytes_ = facts().cells > 0 ? static_cast<uint64_t>(used * kPageSize) : 0;
  return Status();
}

StoreFileFacts StoreFile::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

StatusOr<std::vector<std::string>> StoreFile::CellTables() {
  std::vector<std::string> tables;
  CELLFS_ASSIGN_OR_RETURN(Statement statement, writer_->Prepare(kCellTablesSql));
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return tables;
    tables.emplace_back(statement.Bytes(0));
  }
}

Status StoreFile::ReplaceFamilies(const std::vector<std::string>& families) {
  std::vector<std::string> wanted;
  for (const std::string& family : families) wanted.push_back(CellTableName(family));
  CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> tables, CellTables());
  std::sort(tables.begin(), tables.end());
  std::sort(wanted.begin(), wanted.end());
  if (tables == wanted) return Status();
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  for (const std::string& table : tables) {
    if (std::find(wanted.begin(), wanted.end(), table) == wanted.end()) {
      CELLFS_RETURN_IF_ERROR(writer_->Execute(DropFamilySql(table)));
    }
  }
  for (const std::string& family : families) {
    CELLFS_RETURN_IF_ERROR(writer_->Execute(CreateFamilySql(family)));
  }
  CELLFS_RETURN_IF_ERROR(transaction.Commit());
  return MakeDurable();
}

Status StoreFile::DropEverything(SequenceId flushed, const std::vector<std::string>& families) {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> tables, CellTables());
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  for (const std::string& table : tables) {
    CELLFS_RETURN_IF_ERROR(writer_->Execute(DropFamilySql(table)));
  }
  for (const std::string& family : families) {
    CELLFS_RETURN_IF_ERROR(writer_->Execute(CreateFamilySql(family)));
  }
  const StoreFileFacts facts{flushed, 0, 0};
  CELLFS_RETURN_IF_ERROR(SaveFacts(facts));
  CELLFS_RETURN_IF_ERROR(transaction.Commit());
  {
    const std::lock_guard lock(mutex_);
    facts_ = facts;
  }
  CELLFS_RETURN_IF_ERROR(MeasureBytes());
  return MakeDurable();
}

// A commit syncs the WAL for its own sake and so for all commits before it. They themselves do not
// wait for the disk, since readers and pins may wait for them.
Status StoreFile::MakeDurable() {
  return writer_->Execute(
      "PRAGMA synchronous = FULL; INSERT OR REPLACE INTO meta VALUES ('syncs', "
      "1 + coalesce((SELECT value FROM meta WHERE name = 'syncs'), 0)); PRAGMA synchronous = "
      "NORMAL;");
}

// A WAL that stays full is one more place where damage can do harm. Idle readers are made to go on
// to the present state, which they find in the file proper by then; others do so when they are
// done.
Status StoreFile::Checkpoint() {
  Status status = writer_->Checkpoint();
  for (int i = 0; i < kCheckpointAttempts && status.code() == StatusCode::kUnavailable; ++i) {
    Published();
    status = writer_->Checkpoint();
  }
  writer_->ReleaseMemory();
  return status;
}

Status StoreFile::ForgetGarbage() {
  StoreFileFacts now = facts();
  now.garbage = 0;
  CELLFS_RETURN_IF_ERROR(SaveFacts(now));
  const std::lock_guard lock(mutex_);
  facts_ = now;
  return Status();
}

// As auto_vacuum = FULL does it at a commit, here that of the PRAGMA itself. The steps of
// incremental_vacuum search all free pages for each page they move: minutes for a gigabyte.
Status StoreFile::Shrink(uint64_t least) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t free, writer_->QueryInteger("PRAGMA freelist_count"));
  if (free == 0 || static_cast<uint64_t>(free * kPageSize) < least) return Status();
  const Status shrunk = writer_->Execute("PRAGMA auto_vacuum = FULL");
  // Also after a failure, or each commit from now on would try it again.
  const Status as_before = writer_->Execute("PRAGMA auto_vacuum = INCREMENTAL");
  static_cast<void>(Checkpoint());  // cuts the file
  for (const Status& status : {shrunk, as_before}) {
    if (status.code() != StatusCode::kStoreFull) CELLFS_RETURN_IF_ERROR(status);
  }
  return MeasureBytes();
}

uint64_t StoreFile::Published() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  // A connection that cannot end its read is of no use to anybody.
  std::erase_if(idle_, [](const std::unique_ptr<Connection>& connection) {
    return connection->reading && !connection->EndRead().ok();
  });
  return generation_;
}

StatusOr<StoreFile::Snapshot> StoreFile::OpenSnapshot() {
  const uint64_t now = generation();
  if (empty_) return Snapshot(this, nullptr, now, 0);
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Lease());
  const bool has_its_share = connection->cache_kibibytes == budget_.KibibytesEach();
  if (connection->reading && !has_its_share) CELLFS_RETURN_IF_ERROR(connection->EndRead());
  if (!connection->reading) CELLFS_RETURN_IF_ERROR(BeginRead(*connection));
  const uint64_t generation = connection->generation;
  const SequenceId flushed = connection->flushed;
  return Snapshot(this, std::move(connection), generation, flushed);
}

StatusOr<std::unique_ptr<StoreFile::Connection>> StoreFile::Lease() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return NewConnection();
}

StatusOr<std::unique_ptr<StoreFile::Connection>> StoreFile::NewConnection() {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                          Database::Open(path_, Database::Mode::kOpen));
  CELLFS_RETURN_IF_ERROR(database->Execute(
      "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cell_size_check = ON;"));
  auto connection = std::make_unique<Connection>(std::move(database), budget_);
  Database& opened = *connection->database;
  CELLFS_ASSIGN_OR_RETURN(connection->begin, opened.Prepare("BEGIN"));
  CELLFS_ASSIGN_OR_RETURN(connection->end, opened.Prepare("COMMIT"));
  CELLFS_ASSIGN_OR_RETURN(connection->read_flushed, opened.Prepare(kFlushedSql));
  CELLFS_ASSIGN_OR_RETURN(connection->read_schema_version, opened.Prepare("PRAGMA schema_version"));
  return connection;
}

Status StoreFile::BeginRead(Connection& connection) {
  if (const int64_t share = budget_.KibibytesEach(); share != connection.cache_kibibytes) {
    connection.cache_kibibytes = share;
    CELLFS_RETURN_IF_ERROR(
        connection.database->Execute("PRAGMA cache_size = -" + std::to_string(share)));
  }
  // Before the state is chosen, so that it is never taken for newer than it is.
  connection.generation = generation();
  CELLFS_RETURN_IF_ERROR(connection.begin.Run());
  connection.reading = true;
  CELLFS_ASSIGN_OR_RETURN(const bool row, connection.read_flushed.Step());
  connection.flushed = row ? static_cast<SequenceId>(connection.read_flushed.Integer(0)) : 0;
  connection.read_flushed.Reset();
  CELLFS_RETURN_IF_ERROR(connection.read_schema_version.Step().status());
  const int64_t schema_version = connection.read_schema_version.Integer(0);
  connection.read_schema_version.Reset();
  if (schema_version != connection.schema_version) connection.families.clear();
  for (auto& [name, family] : connection.families) family.any_tombstones.reset();
  connection.schema_version = schema_version;
  return Status();
}

void StoreFile::GiveBack(std::unique_ptr<Connection> connection) {
  for (;;) {
    if (connection->generation != generation() && connection->reading) {
      if (!connection->EndRead().ok()) return;
    }
    const std::lock_guard lock(mutex_);
    if (connection->generation != generation() && connection->reading) continue;
    if (idle_.size() < kIdleConnections) idle_.push_back(std::move(connection));
    return;
  }
}

StoreFile::Snapshot::Snapshot(StoreFile* file, std::unique_ptr<Connection> connection,
                              uint64_t generation, SequenceId flushed)
    : file_(file), connection_(std::move(connection)), generation_(generation), flushed_(flushed) {}

StoreFile::Snapshot::Snapshot(Snapshot&&) noexcept = default;

StoreFile::Snapshot& StoreFile::Snapshot::operator=(Snapshot&& other) noexcept {
  if (connection_ != nullptr) file_->GiveBack(std::move(connection_));
  file_ = other.file_;
  connection_ = std::move(other.connection_);
  generation_ = other.generation_;
  flushed_ = other.flushed_;
  return *this;
}

StoreFile::Snapshot::~Snapshot() {
  if (connection_ != nullptr) file_->GiveBack(std::move(connection_));
}

StatusOr<StoreFile::Snapshot::Family*> StoreFile::Snapshot::FindFamily(std::string_view family) {
  auto& families = connection_->families;
  if (const auto known = families.find(family); known != families.end()) return &known->second;
  CELLFS_ASSIGN_OR_RETURN(
      const int64_t found,
      connection_->database->QueryInteger("SELECT count(*) FROM sqlite_schema WHERE name = '" +
                                          CellTableName(family) + "'"));
  if (found == 0) {
    return Status(StatusCode::kNoSuchColumnFamily,
                  "family '" + std::string(family) + "' does not exist");
  }
  return &families[std::string(family)];
}

StatusOr<std::unique_ptr<CellCursor>> StoreFile::Snapshot::OpenCursor(std::string_view family,
                                                                      SequenceId read_point,
                                                                      bool lengths_only,
                                                                      const std::string* only_row) {
  if (connection_ == nullptr) return std::unique_ptr<CellCursor>();
  CELLFS_ASSIGN_OR_RETURN(Family* const found, FindFamily(family));
  CELLFS_ASSIGN_OR_RETURN(const bool any_tombstones, AnyTombstones(*found, family));
  FreeReaders& free = found->readers;
  if (free.empty()) {
    free.push_back(std::make_unique<FamilyReader>(*connection_->database, family));
  }
  std::unique_ptr<FamilyReader> reader = std::move(free.back());
  free.pop_back();
  return std::unique_ptr<CellCursor>(std::make_unique<SqliteCursor>(
      std::move(reader), free, read_point, lengths_only, only_row, any_tombstones));
}

// Asked once for each state of the file.
StatusOr<bool> StoreFile::Snapshot::AnyTombstones(Family& family, std::string_view name) {
  if (!family.any_tombstones.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(
        const int64_t any,
        connection_->database->QueryInteger(
            "SELECT EXISTS(SELECT 1 FROM " + QuotedName(CellTableName(name)) + " INDEXED BY " +
            QuotedName(TombstoneIndexName(name)) + " WHERE Y <> -4)"));
    family.any_tombstones = any != 0;
  }
  return *family.any_tombstones;
}

StatusOr<bool> StoreFile::Snapshot::HasTombstones(std::string_view family, std::string_view row,
                                                  std::string_view qualifier) {
  if (connection_ == nullptr) return false;
  CELLFS_ASSIGN_OR_RETURN(Family* const found, FindFamily(family));
  CELLFS_ASSIGN_OR_RETURN(const bool any, AnyTombstones(*found, family));
  if (!any) return false;
  if (found->readers.empty()) {
    found->readers.push_back(std::make_unique<FamilyReader>(*connection_->database, family));
  }
  return found->readers.back()->HasTombstones(row, qualifier);
}

StatusOr<Timestamp> StoreFile::Snapshot::OldestPut(std::string_view family) {
  if (connection_ == nullptr) return kLatestTimestamp;
  CELLFS_RETURN_IF_ERROR(FindFamily(family).status());
  CELLFS_ASSIGN_OR_RETURN(const int64_t negated,
                          connection_->database->QueryInteger(
                              "SELECT coalesce(max(T), " + std::to_string(-kLatestTimestamp) +
                              ") FROM " + QuotedName(CellTableName(family)) + " WHERE Y = -4"));
  return -negated;
}

// ---- The writer ---------------------------------------------------------------------------------

struct StoreFileWriter::FamilyStatements {
  Statement put, put_value, erase, erase_value, count_versions;
  FreeReaders readers;
  int64_t next_reference = 1;
};

StoreFileWriter::StoreFileWriter(StoreFile& file, Transaction transaction,
                                 int32_t inline_value_limit)
    : file_(file),
      inline_value_limit_(inline_value_limit),
      facts_(file.facts()),
      transaction_(std::move(transaction)) {}

StoreFileWriter::~StoreFileWriter() = default;

StatusOr<std::unique_ptr<StoreFileWriter>> StoreFileWriter::Begin(StoreFile& file,
                                                                  int32_t inline_value_limit) {
  CELLFS_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(file.writer()));
  return std::unique_ptr<StoreFileWriter>(
      new StoreFileWriter(file, std::move(transaction), inline_value_limit));
}

StatusOr<StoreFileWriter::FamilyStatements*> StoreFileWriter::StatementsOf(
    std::string_view family) {
  if (const auto known = families_.find(family); known != families_.end()) {
    return known->second.get();
  }
  Database& database = file_.writer();
  const std::string cells = QuotedName(CellTableName(family));
  const std::string values = QuotedName(ValueTableName(family));
  auto made = std::make_unique<FamilyStatements>();
  // The same cell is there only after a crash that a log was replayed after; its row is as good.
  CELLFS_ASSIGN_OR_RETURN(
      made->put, database.Prepare("INSERT OR IGNORE INTO " + cells +
                                  "(K, Q, T, Y, S, L, H, V, R, X, Z) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"));
  CELLFS_ASSIGN_OR_RETURN(
      made->put_value, database.Prepare("INSERT INTO " + values + "(R, H, V) VALUES (?1, ?2, ?3)"));
  CELLFS_ASSIGN_OR_RETURN(made->erase,
                          database.Prepare("DELETE FROM " + cells +
                                           " WHERE K = ?1 AND Q = ?2 AND T = ?3 AND Y = ?4 "
                                           "AND S BETWEEN ?5 AND ?6 RETURNING R"));
  CELLFS_ASSIGN_OR_RETURN(made->erase_value,
                          database.Prepare("DELETE FROM " + values + " WHERE R = ?1"));
  CELLFS_ASSIGN_OR_RETURN(made->count_versions,
                          database.Prepare("SELECT count(*) FROM (SELECT 1 FROM " + cells +
                                           " WHERE K = ?1 AND Q = ?2 LIMIT ?3)"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t last,
                          database.QueryInteger("SELECT max(R) FROM " + values));
  made->next_reference = last + 1;
  return families_.emplace(std::string(family), std::move(made)).first->second.get();
}

Status StoreFileWriter::Put(const FamilySchema& family, const CellView& cell) {
  CELLFS_ASSIGN_OR_RETURN(FamilyStatements* const statements, StatementsOf(family.name()));
  StoredCell stored;
  stored.cell = cell;
  stored.cell.value_length = cell.value.size();
  stored.packed = PackValue(cell.value, family.compression(), &buffer_);
  if (stored.packed.bytes.size() > static_cast<size_t>(std::max(inline_value_limit_, 0))) {
    stored.reference = statements->next_reference++;
    Statement& value = statements->put_value;
    value.Bind(1, stored.reference);
    value.Bind(2, ChecksumOfValue(stored.packed.bytes, stored.reference));
    value.Bind(3, stored.packed.bytes);
    CELLFS_RETURN_IF_ERROR(value.Run());
  }
  Statement& put = statements->put;
  put.Bind(1, cell.row);
  put.Bind(2, cell.qualifier);
  put.Bind(3, -cell.timestamp);
  put.Bind(4, -static_cast<int64_t>(cell.type));
  put.Bind(5, -static_cast<int64_t>(cell.sequence_id));
  put.Bind(6, static_cast<int64_t>(stored.cell.value_length));
  put.Bind(7, ChecksumOf(stored));
  if (stored.reference == 0) {
    put.Bind(8, stored.packed.bytes);
    put.BindNull(9);
  } else {
    put.BindNull(8);
    put.Bind(9, stored.reference);
  }
  if (cell.time_to_live == kNoCellTtl) {
    put.BindNull(10);
  } else {
    put.Bind(10, cell.time_to_live);
  }
  if (stored.packed.tag == ValueTag::kPlain) {
    put.BindNull(11);
  } else {
    put.Bind(11, static_cast<int64_t>(stored.packed.tag));
  }
  ++facts_.cells;
  return put.Run();
}

Status StoreFileWriter::Erase(std::string_view family, const CellView& key, SequenceId lowest,
                              SequenceId highest) {
  CELLFS_ASSIGN_OR_RETURN(FamilyStatements* const statements, StatementsOf(family));
  Statement& erase = statements->erase;
  erase.Bind(1, key.row);
  erase.Bind(2, key.qualifier);
  erase.Bind(3, -key.timestamp);
  erase.Bind(4, -static_cast<int64_t>(key.type));
  erase.Bind(5, -static_cast<int64_t>(highest));
  erase.Bind(6, -static_cast<int64_t>(lowest));
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const bool row, erase.Step());
    if (!row) break;
    --facts_.cells;
    if (erase.IsNull(0)) continue;
    statements->erase_value.Bind(1, erase.Integer(0));
    CELLFS_RETURN_IF_ERROR(statements->erase_value.Run());
  }
  erase.Reset();
  return Status();
}

StatusOr<std::unique_ptr<CellCursor>> StoreFileWriter::OpenCursor(std::string_view family) {
  CELLFS_ASSIGN_OR_RETURN(FamilyStatements* const statements, StatementsOf(family));
  return std::unique_ptr<CellCursor>(
      std::make_unique<SqliteCursor>(std::make_unique<FamilyReader>(file_.writer(), family),
                                     statements->readers, kMaxSequenceId, true));
}

StatusOr<int64_t> StoreFileWriter::CountVersions(std::string_view family, std::string_view row,
                                                 std::string_view qualifier, int64_t limit) {
  CELLFS_ASSIGN_OR_RETURN(FamilyStatements* const statements, StatementsOf(family));
  Statement& count = statements->count_versions;
  count.Bind(1, row);
  count.Bind(2, qualifier);
  count.Bind(3, limit);
  CELLFS_RETURN_IF_ERROR(count.Step().status());
  const int64_t versions = count.Integer(0);
  count.Reset();
  return versions;
}

Status StoreFileWriter::Prepare() { return file_.writer().WriteOut(); }

Status StoreFileWriter::Commit() {
  CELLFS_RETURN_IF_ERROR(file_.SaveFacts(facts_));
  file_.empty_ = false;  // before anybody can see what is in it
  CELLFS_RETURN_IF_ERROR(transaction_.Commit());
  {
    const std::lock_guard lock(file_.mutex_);
    file_.facts_ = facts_;
  }
  static_cast<void>(file_.MeasureBytes());  // what is committed is committed
  return Status();
}

}  // namespace cellfs
