// SPDX-License-Identifier: MIT
//
// Region: the data path of one table, as HBase's HRegion has it: checks what a caller asks for,
// stamps and reckons what is written under the lock of its row, and hands whole rows to the storage.
// It knows neither rights, quotas nor whether the table is enabled: its caller has seen to them.
#ifndef CELLFS_ENGINE_REGION_REGION_H_
#define CELLFS_ENGINE_REGION_REGION_H_

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "engine/admin.h"
#include "engine/mutation.h"
#include "engine/options.h"
#include "engine/read.h"
#include "engine/region/cell_storage.h"
#include "engine/region/row_locks.h"
#include "engine/region/storage_engine.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

// Thread-safe. A writer holds, in this order: the schema lock, shared; the lock of its row. It holds
// none while it waits for the disk. `engine` outlives the region.
class Region {
 public:
  Region(TableName name, std::shared_ptr<CellStorage> storage, StorageEngine& engine,
         std::shared_ptr<const TableSchema> schema, const StoreOptions& options);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  const TableName& name() const { return name_; }
  // As it is now; stays good for whoever holds it.
  std::shared_ptr<const TableSchema> schema() const;

  StatusOr<RowCells> Read(const Get& get);
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Scan& scan);

  StatusOr<MutationResult> Mutate(const RowMutations& mutations);
  // `action_guard`, where there is one, is asked once the condition has held and before the action is
  // looked at: whether this caller may do it. It runs under the row's lock.
  StatusOr<CheckAndMutateResult> CheckAndMutate(const cellfs::CheckAndMutate& check,
                                                const std::function<Status()>& action_guard);
  // One wait for the disk for all rows, and one clock; as many answers as rows.
  std::vector<StatusOr<MutationResult>> Batch(std::span<const RowMutations> rows);

  // Waits for the writes under way. What the catalog says is the caller's.
  Status ReplaceSchema(std::shared_ptr<const TableSchema> schema);
  Status Flush() { return storage_->Flush(); }
  Status Compact(CompactionKind kind) { return storage_->Compact(kind); }
  Status Truncate();
  TableStatistics GetStatistics() const;

 private:
  struct Written;

  StatusOr<Written> MutateLocked(const RowMutations& mutations, Timestamp now);
  StatusOr<Written> ApplyLocked(const RowMutations& mutations, Timestamp now, Timestamp put_floor);
  Durability Resolve(Durability asked) const;

  const TableName name_;
  const std::shared_ptr<CellStorage> storage_;
  StorageEngine& engine_;
  const StoreOptions options_;

  mutable std::shared_mutex schema_mutex_;
  std::shared_ptr<const TableSchema> schema_;  // guarded by schema_mutex_
  RowLocks row_locks_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_REGION_H_
