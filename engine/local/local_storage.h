// SPDX-License-Identifier: MIT
//
// LocalStorage: the cells of one table of an embedded store (HBase: the HStores of one region). A
// write goes to the log and into the active memstore; a flush freezes that, carries it into the
// store file, and tells the log. A read merges active and frozen memstore with a snapshot of the
// file.
//
// Locks, in the order in which they are taken: compact_mutex_, rewrite_mutex_, the store's
// write_mutex, the registry of moments, state_mutex_; the observer's within rewrite_mutex_. A
// reader takes only the last, for as long as it takes to copy three pointers, so that nothing that
// writes holds it up.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/local/memstore.h"
#include "engine/local/moment_registry.h"
#include "engine/local/store_file.h"
#include "engine/local/wal.h"
#include "engine/options.h"
#include "engine/region/cell_storage.h"
#include "engine/region/storage_engine.h"

namespace cellfs {

class DroppedColumns;
class FamilyCompaction;
struct Rewrite;
enum class RewriteKind;

// What the tables of one store share.
struct StoreContext {
  explicit StoreContext(const StoreOptions& store_options)
      : options(store_options), cache(store_options.cache_bytes) {}

  const StoreOptions options;
  CacheBudget cache;
  const std::shared_ptr<MomentRegistry> moments = std::make_shared<MomentRegistry>();
  std::unique_ptr<Wal> wal;  // set once, before the first write

  // Held while mutations are numbered, logged and put into memstores: one order for all three.
  std::mutex write_mutex;
  std::atomic<SequenceId> read_point{
      0};  // mutations up to it are visible; written under write_mutex
  std::atomic<uint64_t> mutations{0};

  std::atomic<bool> maintained{false};  // a background thread flushes, and is not paused
  std::function<void()> wake_maintenance = [] {};

  std::mutex observer_mutex;            // held while it is called
  RewriteObserver* observer = nullptr;  // guarded by observer_mutex
};

class LocalStorage : public CellStorage, public std::enable_shared_from_this<LocalStorage> {
 public:
  LocalStorage(std::shared_ptr<StoreContext> context, StoredTable table,
               std::shared_ptr<StoreFile> file);

  StatusOr<RowCells> Read(const Get& get, Timestamp now) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan) override;
  StatusOr<ColumnHead> ReadColumnHead(std::string_view row, std::string_view family,
                                      std::string_view qualifier) override;
  StatusOr<LogPosition> Apply(std::span<RowBatch> batches) override;
  Status Flush() override;
  Status Compact(CompactionKind kind) override;
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema) override;
  Status Truncate() override;
  TableStatistics GetStatistics() override;

  // For the engine and its maintenance.
  TableId id() const { return id_; }
  TableName name() const;
  SequenceId flushed() const { return file_->facts().flushed; }
  // What the log brings back. Before anything else is asked of the storage.
  void Recover(const LogRecord& record);
  // After the last Recover: the log need not keep what the file has had all along.
  void SettleRecovered();
  // No more writes come; what is left of the table is removed.
  void Drop();
  bool WantsFlush() const;
  bool WantsCompaction() const;
  // As Compact, but ends early, without an error, where `stopped` says so or a moment is pinned.
  Status CompactUntil(CompactionKind kind, const std::function<bool()>& stopped);

 private:
  class LocalScanner;

  // A memstore, which of its columns have tombstones (to look for them in a column of many versions
  // would mean to walk over all of these), and which cells it withdraws, for compactions.
  class MemoryCells {
   public:
    explicit MemoryCells(const TableSchema& schema);
    // As Memstore::Addition.
    Memstore::Addition Begin() { return Memstore::Addition(memstore_); }
    void Prepare(std::span<const CellView> cells, Memstore::Addition& addition);
    bool MayHaveTombstones(std::string_view family, std::string_view row,
                           std::string_view qualifier) const;
    // Whether a withdrawal among these takes back a cell of the file.
    bool MayWithdraw(std::string_view family, const CellView& cell) const;
    const Memstore& memstore() const { return memstore_; }

   private:
    Memstore memstore_;
    std::atomic<bool> any_tombstones_{false};
    std::atomic<bool> any_withdrawals_{false};
    mutable std::mutex mutex_;                          // guards the next two
    std::unordered_set<size_t> tombstoned_;             // hashes of columns
    std::unordered_map<size_t, SequenceId> withdrawn_;  // hashes of cells; below which they go
  };

  struct State {
    std::shared_ptr<const TableSchema> schema;
    std::shared_ptr<MemoryCells> active;
    std::shared_ptr<MemoryCells>
        frozen;               // being flushed, or waiting for it after an error; or null
    uint64_t generation = 0;  // of the file, at least, that belongs to the memstores
  };

  // One consistent state of the table: what is in the file's snapshot is in none of the memstores.
  struct View {
    StoreFile::Snapshot snapshot;
    State state;
    SequenceId read_point = 0;
    const std::string* only_row = nullptr;  // what is asked for, where it is one row
  };

  StatusOr<View> TakeView(const std::shared_ptr<const Moment>& moment = nullptr);
  // `columns`: where the view has an only row, no others of it are asked for; null: all may be.
  static StatusOr<std::unique_ptr<CellCursor>> OpenCursor(
      View& view, const std::string& family, bool lengths_only,
      const std::set<std::string>* columns = nullptr);
  State CopyState() const;
  int64_t FlushSize() const;
  Status CheckStorable(std::span<const RowBatch> batches) const;
  Status WaitForRoom(bool only_deletes);
  Status CheckWithdrawable(std::span<const RowBatch> batches, SequenceId newest_moment);
  Rewrite RewriteNow(RewriteKind kind) const;

  // REQUIRES: rewrite_mutex_ is held.
  Status FlushLocked();
  Status FlushFrozen(const std::shared_ptr<MemoryCells>& frozen);
  void FlushEnded(Status status);
  bool flush_failed() const;
  Status Settle();
  void Freeze();
  // After a rewrite of the file, which was `before`; `frozen` may be null.
  void TellObserver(DroppedColumns dropped, StatusOr<StoreFile::Snapshot>& before,
                    const MemoryCells* frozen);
  Status Shrink(uint64_t least);
  StatusOr<bool> CompactBatch(FamilyCompaction& compaction, const Rewrite& rewrite,
                              const std::shared_ptr<const TableSchema>& schema);

  const TableId id_;
  const std::shared_ptr<StoreContext> context_;
  const std::shared_ptr<StoreFile> file_;

  std::mutex compact_mutex_;         // one compaction at a time
  std::mutex rewrite_mutex_;         // one change of the file at a time
  std::atomic<bool> durable_{true};  // false: a sync has failed, the log must keep what it has
  std::atomic<bool> dropped_{false};
  std::atomic<bool> unsettled_{false};  // the file has what is not known to be on disk
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> compactions_{0};

  mutable std::mutex state_mutex_;
  State state_;
  Status flush_error_;  // of the last flush; guarded by state_mutex_
  std::condition_variable flush_done_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_STORAGE_H_
