// SPDX-License-Identifier: MIT
//
// Region: the data path of one table, as HBase's HRegion has it: checks what a caller asks for,
// stamps and reckons what is written under the lock of its row, and hands whole rows to the
// storage. It knows neither rights, quotas nor whether the table is enabled: its caller has seen
// to them.
#ifndef CELLFS_ENGINE_TABLE_REGION_H_
#define CELLFS_ENGINE_TABLE_REGION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/mutation.h"
#include "engine/options.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/snapshot.h"
#include "engine/status_or.h"
#include "engine/storage/cell_storage.h"
#include "engine/table/fair_shared_mutex.h"
#include "engine/table/row_locks.h"
#include "engine/table/row_write_builder.h"

namespace cellfs {

// Thread-safe. Locks, in this order: the schema's, shared by reads and writes; that of the row, for
// writes. None is held while a write waits for the disk, or for room.
class Region {
 public:
  Region(std::shared_ptr<CellStorage> storage, std::shared_ptr<const TableSchema> schema,
         const StoreOptions& options);

  // As it is now; stays good for whoever holds it.
  Snapshot<TableSchema> schema() const;

  StatusOr<RowCells> Read(const Get& get);
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan);

  StatusOr<MutationResult> Mutate(const RowMutations& mutations);
  // Why Mutate would refuse it now, but for want of room.
  Status CheckMayMutate(const RowMutations& mutations);
  // `action_guard`, where there is one, is asked once the condition has held and before the action
  // is looked at: whether this caller may do it. It runs under the region's locks and must not
  // call it.
  StatusOr<CheckAndMutateResult> CheckAndMutate(const cellfs::CheckAndMutate& check,
                                                const std::function<Status()>& action_guard);
  // One wait for the disk for all rows, and one clock; as many answers as rows.
  std::vector<StatusOr<MutationResult>> Batch(std::span<const RowMutations> rows);

  // Waits for the reads and writes under way. What the catalog says is the caller's.
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema);
  Status CheckRoom(uint64_t bytes) { return storage_->CheckRoom(bytes); }
  // Whether a timestamp is left above all that lies on the column: kTimestampsExhausted. No more
  // than a look at the table's newest timestamp, but in a table that has the last one there is.
  Status CheckTimestampLeft(std::string_view row, std::string_view family,
                            std::string_view qualifier);
  Status Flush() { return storage_->Flush(); }
  Status Compact(CompactionKind kind) { return storage_->Compact(kind); }
  Status CompactSelected() { return storage_->CompactSelected(); }
  Status Truncate();
  // Whether it, or the family, holds a cell, a hidden one too. What cannot be read counts as one.
  bool HoldsCells(const std::optional<std::string>& family);
  // Before a drop: writes under way are waited for and later ones refused, unless a cell is there
  // to see; then false.
  StatusOr<bool> CloseIfEmpty();
  void Close();  // whatever is in it
  void Reopen();
  TableStatistics GetStatistics();

 private:
  // What a call waits for with no lock held.
  struct Wait {
    // Up to where the log has to be durable before it may return, and how.
    LogPosition position = 0;
    Durability durability = Durability::kSkipWal;
    bool needed = false;
    // That the storage has no room for what is to be written, or is running out of it.
    bool for_room = false;
    std::unique_ptr<WriteRoom> room;
    std::chrono::microseconds pause{0};
  };
  // Runs `act`, which takes locks and writes about so many bytes, until it has had room: what it
  // has looked at may have changed while it waited.
  template <typename Act>
  auto AwaitingRoom(Wait& wait, uint64_t bytes, const Act& act) -> decltype(act());

  StatusOr<MutationResult> MutateRow(const RowMutations& mutations, Wait& wait);
  // These take the locks.
  StatusOr<MutationResult> TryMutate(const RowMutations& mutations, Wait& wait);
  StatusOr<CheckAndMutateResult> TryCheckAndMutate(const cellfs::CheckAndMutate& check,
                                                   const std::function<Status()>& action_guard,
                                                   Wait& wait);
  // Adds an answer for each row; to those that are OK it belongs that OK is returned.
  Status TryPlainRows(std::span<const RowMutations> rows, Timestamp now, Wait& wait,
                      std::vector<StatusOr<MutationResult>>& answers);

  // No other write comes to it as long as this lives.
  struct LockedRow {
    RowLocks::OneLock lock;
    std::unique_ptr<RowStorage> kept;  // from others; null: the region's lock keeps it from all
    RowStorage& storage;               // by which it is read and written
  };
  StatusOr<LockedRow> LockRow(const std::string& row);

  // REQUIRES: the schema lock and the row's.
  StatusOr<RowWrite> Prepare(const RowMutations& mutations, const WriteContext& context);
  StatusOr<MutationResult> Write(const RowMutations& mutations, const WriteContext& context,
                                 Wait& wait);
  Status Apply(RowStorage& storage, std::span<RowBatch> batches, Durability durability,
               Wait& wait);
  WriteContext ContextAt(Timestamp now, RowStorage& storage) const {
    return {*schema_, storage, options_.site, now, now, {}};
  }

  // The schema's lock. Who changes the schema may wait for the disk meanwhile.
  std::shared_lock<FairSharedMutex> LockToUse() const;
  std::unique_lock<FairSharedMutex> LockToReplace();

  Status CheckWritable() const;
  Durability Resolve(Durability asked) const;
  Status WaitForDisk(const Wait& wait);

  const std::shared_ptr<CellStorage> storage_;
  const StoreOptions options_;

  mutable FairSharedMutex schema_mutex_;
  std::shared_ptr<const TableSchema> schema_;  // guarded by schema_mutex_
  bool closed_ = false;                        // guarded by schema_mutex_
  RowLocks row_locks_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_REGION_H_
