// SPDX-License-Identifier: MIT
//
// StoreFile: the flushed cells of one table, as one SQLite database (HBase: the HFiles of a
// region). It changes by flush and compaction only, one at a time, in transactions of a
// StoreFileWriter; readers work meanwhile on snapshots, and neither waits for the other.
//
// Read connections stand in a read transaction while they are idle, for to begin one costs more
// than a Get: a writer calls Published after its commit, which turns the idle ones to the new
// state.
#ifndef CELLFS_ENGINE_LOCAL_STORE_FILE_H_
#define CELLFS_ENGINE_LOCAL_STORE_FILE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/database.h"
#include "engine/local/sqlite_cursor.h"
#include "engine/region/storage_engine.h"
#include "engine/schema.h"

namespace cellfs {

// Shares `bytes` of page cache out among all connections of a store. Thread-safe.
class CacheBudget {
 public:
  explicit CacheBudget(int64_t bytes) : bytes_(bytes) {}
  void Join() { ++connections_; }
  void Leave() { --connections_; }
  void Set(int64_t bytes) { bytes_ = bytes; }
  int64_t KibibytesEach() const;

 private:
  std::atomic<int64_t> bytes_;
  std::atomic<int64_t> connections_{0};
};

// What a store file says of itself; changed by a StoreFileWriter.
struct StoreFileFacts {
  SequenceId flushed = 0;  // every cell of the table up to it is in the file, or not wanted
  int64_t cells = 0;       // about
  int64_t garbage = 0;     // of them, about: hidden versions and tombstones since the last major
};

// Whose cells a store file holds; written into it when it is made.
struct StoreFileOwner {
  uint64_t store_id = 0;
  TableId table = 0;
};

// kCorruption: not a store file, one of a newer format, or another table's.
Status CheckIsStoreFile(Database& database, const StoreFileOwner& owner);
// kCorruption: the file at `path` lacks cells that the log had up to `needed` and has cut, or lost
// with `segment` and those before it.
Status CheckHasFlushed(const std::string& path, SequenceId flushed, SequenceId needed,
                       const std::string& segment);
StatusOr<SequenceId> ReadFlushed(Database& database);

// Thread-safe but for what is said.
class StoreFile {
 public:
  class Snapshot;

  // Opens the file with tables for `families` and for no others; kCreate makes it, durably, where
  // it is missing. `budget` outlives it. kCorruption: as CheckIsStoreFile, and nothing was changed.
  static StatusOr<std::shared_ptr<StoreFile>> Open(const std::string& path, Database::Mode mode,
                                                   const StoreFileOwner& owner,
                                                   const std::vector<std::string>& families,
                                                   CacheBudget& budget);
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  // Removes the files of a store file that is not open, or whose readers have open what they need.
  static void Remove(const std::string& path);

  const std::string& path() const { return path_; }
  // Whether it was not closed by whoever had it last, and may hold what is not on disk yet.
  bool is_recovered() const { return is_recovered_; }

  // Of a cell with its key, so that every cell up to it can be flushed.
  uint64_t most_bytes_of_cell() const { return most_bytes_of_cell_; }

  // The present state, of a generation at least as new as generation() was before the call.
  StatusOr<Snapshot> OpenSnapshot();
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // After a commit: snapshots opened from now on have it, and the new generation.
  uint64_t Published();
  StoreFileFacts facts() const;
  // What the cells take, as a space quota counts: an empty file is 0 bytes.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // The rest is the writer's: one thread at a time.
  Database& writer() { return *writer_; }
  Status ReplaceFamilies(const std::vector<std::string>& families);
  Status DropEverything(SequenceId flushed, const std::vector<std::string>& families);
  // What was committed survives power loss when this returns.
  Status MakeDurable();
  // Carries what was committed from the WAL into the file proper, and empties the WAL.
  // kUnavailable: readers hold that up.
  Status Checkpoint();
  Status ForgetGarbage();
  // Gives the file system what the file does not need any more, if that is so many bytes and the
  // disk has as much room. Rewrites as many, and other writers wait for it: a second for 400 MB.
  Status Shrink(uint64_t least = 0);

 private:
  friend class StoreFileWriter;
  struct Connection;

  StoreFile(std::string path, CacheBudget& budget);
  Status Initialize(Database::Mode mode, const StoreFileOwner& owner,
                    const std::vector<std::string>& families);
  Status LoadFacts();
  Status SaveFacts(const StoreFileFacts& facts);
  Status MeasureBytes();
  StatusOr<std::vector<std::string>> CellTables();
  StatusOr<std::unique_ptr<Connection>> NewConnection();
  StatusOr<std::unique_ptr<Connection>> Lease();
  Status BeginRead(Connection& connection);
  void GiveBack(std::unique_ptr<Connection> connection);

  const std::string path_;
  CacheBudget& budget_;
  std::unique_ptr<Database> writer_;
  bool is_recovered_ = false;        // set by Open
  uint64_t most_bytes_of_cell_ = 0;  // set by Open
  std::atomic<bool> empty_{true};
  std::atomic<uint64_t> generation_{0};
  std::atomic<uint64_t> bytes_{0};

  mutable std::mutex mutex_;  // never held while SQLite works, but for the end of a read
  std::vector<std::unique_ptr<Connection>> idle_;
  StoreFileFacts facts_;
};

// A state of the file, kept while it lives. One thread at a time; the file outlives it.
class StoreFile::Snapshot {
 public:
  Snapshot(Snapshot&& other) noexcept;
  Snapshot& operator=(Snapshot&& other) noexcept;
  ~Snapshot();

  uint64_t generation() const { return generation_; }
  SequenceId flushed() const { return flushed_; }  // of this state
  // Null: the file has no cells at all. kNoSuchColumnFamily. The cursor must go before the
  // snapshot. With `only_row` it may leave out the cells of all other rows; the string outlives the
  // cursor.
  StatusOr<std::unique_ptr<CellCursor>> OpenCursor(std::string_view family, SequenceId read_point,
                                                   bool lengths_only,
                                                   const std::string* only_row = nullptr);
  // Of the column; family tombstones lie in the column of the empty qualifier.
  StatusOr<bool> HasTombstones(std::string_view family, std::string_view row,
                               std::string_view qualifier);
  // The smallest timestamp of the family's puts, found by a walk over it; kLatestTimestamp: no put.
  StatusOr<Timestamp> OldestPut(std::string_view family);

 private:
  friend class StoreFile;
  struct Family;
  StatusOr<Family*> FindFamily(std::string_view family);
  StatusOr<bool> AnyTombstones(Family& family, std::string_view name);
  Snapshot(StoreFile* file, std::unique_ptr<Connection> connection, uint64_t generation,
           SequenceId flushed);

  StoreFile* file_;
  std::unique_ptr<Connection> connection_;  // null: the file is empty
  uint64_t generation_;
  SequenceId flushed_;
};

// A transaction that changes a store file. One at a time, on the file's writer connection.
class StoreFileWriter {
 public:
  static StatusOr<std::unique_ptr<StoreFileWriter>> Begin(StoreFile& file,
                                                          int32_t inline_value_limit);
  ~StoreFileWriter();

  // Adds the cell, or replaces the same one. In key order it is several times as fast.
  Status Put(const FamilySchema& family, const CellView& cell);
  // Removes the cells of one column, timestamp and type with a sequence id in [lowest, highest]
  // (only these members of `key` are looked at).
  Status Erase(std::string_view family, const CellView& key, SequenceId lowest, SequenceId highest);
  // Of the state within the transaction.
  StatusOr<std::unique_ptr<CellCursor>> OpenCursor(std::string_view family);
  // How many versions the column has, counted up to `limit`.
  StatusOr<int64_t> CountVersions(std::string_view family, std::string_view row,
                                  std::string_view qualifier, int64_t limit);

  StoreFileFacts& facts() { return facts_; }  // `cells` counts by itself
  // Writes what has gathered in memory ahead of the commit, which is short then.
  Status Prepare();
  // Does not wait for the disk; StoreFile::MakeDurable does. The caller calls StoreFile::Published.
  Status Commit();

 private:
  struct FamilyStatements;
  StoreFileWriter(StoreFile& file, Transaction transaction, int32_t inline_value_limit);
  StatusOr<FamilyStatements*> StatementsOf(std::string_view family);

  StoreFile& file_;
  const int32_t inline_value_limit_;
  StoreFileFacts facts_;
  std::map<std::string, std::unique_ptr<FamilyStatements>, std::less<>> families_;
  std::string buffer_;
  Transaction transaction_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_STORE_FILE_H_
